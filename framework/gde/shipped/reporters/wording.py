"""Numbers and names as people read them."""

from collections.abc import Mapping

from gde.data.json import Labels
from gde.data.result import Measurement
from gde.numerics.stats import Interval

SPACE = "\u00a0"
"""No line breaks between a number and its unit."""
MINUS = "\u2212"
CONTROLS: Mapping[str, tuple[str, str]] = {
    "coordinates": ("coordinates only", "told which cell is asked for, shown no activations"),
    "shuffled": ("shuffled labels", "fitted to the maps of other turns"),
    "untrained": ("random weights", "the same architecture, never trained"),
    "embeddings": ("bag of tokens", "the mean input embedding of all that was read"),
}
"""A control's name and what is taken away from the probe in it."""
MARKS: Mapping[str, str] = {"pre": "before reasoning", "post": "after reasoning"}
MEASUREMENTS: Mapping[str, str] = {
    "success": "Goal success rate",
    "accuracy": "Optimal actions, averaged over worlds",
    "accuracy.pooled": "Optimal actions, pooled over steps",
    "length": "Turns of an episode",
    "policy.entropy": "Entropy of the policy",
    "policy.entropy_optimal": "Entropy of the optimal policy",
    "policy.jsd": "Divergence from the optimal policy",
    "policy.jsd_nearest": "Divergence from the nearest optimal policy",
    "policy.states.unanswered": "States without a usable answer",
    "policy.states.hopeless": "States from which the goal is out of reach",
    "calibration.ece": "Calibration error",
    "calibration.ece_released": "Calibration error, as released",
    "efficiency.spl": "Success weighted by path length",
    "efficiency.regret": "Regret",
    "overlap.jaccard": "Similarity of two episodes in one world",
    "difficulty.accuracy": "Optimal actions",
    "difficulty.success": "Goal success rate",
    "difficulty.jsd": "Divergence from the optimal policy",
    "difficulty.entropy": "Entropy of the policy",
    "keys.accuracy.collect": "Optimal actions while collecting the key",
    "keys.accuracy.open": "Optimal actions while opening the door",
    "keys.accuracy.reach": "Optimal actions while reaching the goal",
    "keys.pickup": "Key or object taken",
    "keys.pickup.control": "Its place visited in twins without it",
    "keys.attraction": "Errors that lead nearer to the object",
    "keys.attraction.control": "The same in twins without it",
    "keys.jaccard": "Similarity of episodes with and without",
    "meg.known": "Towards the reward",
    "meg.known.share": "Towards the reward, share of the most possible",
    "meg.known.beta": "Rationality that fits best",
    "meg.known.unusable": "Decisions without an action",
    "meg.to": "Towards",
    "meg.to.share": "Towards, share of the most possible",
    "meg.to.posterior": "Probability of being after it",
    "meg.unknown": "Towards anything that the features say",
    "meg.unknown.share": "Towards anything, share of the most possible",
    "meg.unknown.weight": "Weight in the utility that fits best",
    "meg.unknown.due": "Owed to the feature",
    "meg.belief": "Towards the goal, as believed or as it is",
    "meg.belief.gain": "What the decoded goal explains beyond the true one",
    "meg.inside": "Towards what hidden states encode",
    "outcomes.ok": "Usable",
    "outcomes.invalid_action": "No admissible action",
    "outcomes.unparsable": "Not parsable",
    "outcomes.empty": "Empty",
    "outcomes.refusal": "Refused",
    "outcomes.truncated": "Cut off by the token limit",
    "outcomes.error": "Error of the model",
    "top1.agent": "Agent top-1",
    "top1.goal": "Goal top-1",
    "distance.agent": "Agent distance",
    "distance.goal": "Goal distance",
    "accuracy.interior": "Interior accuracy",
    "recall.agent": "Agent recall",
    "recall.goal": "Goal recall",
    "recall.wall": "Wall recall",
    "recall.empty": "Free-cell recall",
    "endings.terminated": "Terminal state reached",
    "endings.truncated": "Cut off by the environment",
    "endings.horizon": "Out of turns",
    "endings.failed": "Failed",
    "episodes.failed": "Failed episodes, left out above",
}


def title(name: str) -> str:
    """A measurement's name in words."""
    return MEASUREMENTS.get(name, name.replace(".", " ").replace("_", " "))


def heading(name: str, unit: str) -> str:
    """A column's title, with the unit that its cells leave out."""
    return f"{title(name)}, {symbol(unit)}" if symbol(unit) else title(name)


def symbol(unit: str) -> str:
    """The unit as it follows a number; shares are shown in per cent."""
    return {"share": "%", "count": ""}.get(unit, unit)


def number(value: float, unit: str, digits: int = 1) -> str:
    """A number without its unit; `digits` decimals for per cent."""
    scale, decimals = {"share": (100, digits), "count": (1, 0)}.get(unit, (1, 2))
    return f"{scale * value:.{decimals}f}".replace("-", MINUS)


def quantity(value: float, unit: str, digits: int = 1) -> str:
    """A number with its unit."""
    return f"{number(value, unit, digits)}{SPACE}{symbol(unit)}".rstrip()


def bounds(interval: Interval | None, unit: str, digits: int = 1) -> str:
    """The interval without its unit; empty for none."""
    if interval is None:
        return ""
    low, high = (number(bound, unit, digits) for bound in interval)
    return f"[{low},{SPACE}{high}]"


def estimate(measurement: Measurement, digits: int = 1) -> str:
    """Number, unit and interval; the reason where there is no number."""
    if measurement.value is None:
        return f"not measured ({measurement.reason})"
    value = quantity(measurement.value, measurement.unit, digits)
    return f"{value} {bounds(measurement.interval, measurement.unit, digits)}".strip()


def labels_text(labels: Labels) -> str:
    """Labels as a short phrase."""
    return ", ".join(f"{name}{SPACE}{_label(value)}" for name, value in labels.items())


def _label(value: str | int | float | bool) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
