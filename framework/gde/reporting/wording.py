"""Numbers and names in words for readers."""

from collections.abc import Iterable, Mapping, Sequence
from unicodedata import bidirectional

from gde.data.goals import GOAL_MOVED
from gde.data.json import Json, Labels
from gde.data.measure import Measure
from gde.data.probe import Fit
from gde.data.result import Measurement
from gde.data.verdict import Verdict, negated
from gde.numerics.controls import DRAWN, MANY
from gde.numerics.stats import Interval
from gde.store.rows import to_json

SPACE = "\u00a0"
"""No line break between a number and its unit."""
MINUS = "\u2212"
CONTROLS: Mapping[str, tuple[str, str]] = {
    "no_activations": (
        "no activations",
        "receives no activations, at most the coordinates of a cell",
    ),
    "prompt": ("prompt tokens", "receives the tokens of the prompt, one-hot"),
    "conditions": ("condition only", "receives the swept values but no activations"),
    "shuffled": ("shuffled labels", "fitted to the labels of other worlds"),
    "untrained": ("random weights", "same architecture, random weights"),
}
"""A control's name, and how it differs from the probe."""
LEAST = 0.001
"""Smaller probabilities are shown as "< 0.001"."""
POSITIONS: Mapping[str, str] = {
    "pre": "before reasoning",
    "post": "after reasoning",
    "reasoning": "while reasoning",
}
SYMBOLS: Mapping[str, str] = {
    "share": "%",
    "count": "",
    "probability": "",
    "distance": "",
}
"""The sign after a number, for units that are not shown by their own name."""


NAME = 40
"""The most characters of a name in a sentence or a row."""
DIRECTED = ("R", "AL", "RLE", "RLO", "RLI", "LRE", "LRO", "LRI", "FSI", "PDF", "PDI")
"""Classes of characters that change the direction of what follows them."""


def at_position(name: str) -> str:
    """Where activations are read, as part of a sentence."""
    return POSITIONS.get(name, f"at {name}")


def isolated(name: str) -> str:
    """A name that does not turn round the sentence it stands in."""
    if not any(bidirectional(each) in DIRECTED for each in name):
        return name
    # A control character of the name could end the isolation.
    kept = "".join(each for each in name if bidirectional(each) not in DIRECTED[2:])
    return f"\u2068{kept}\u2069"


def short(name: str) -> str:
    """A long name without its middle: names often differ at their ends alone."""
    half = NAME // 2
    return name if len(name) <= NAME else f"{name[:half]}\u2026{name[1 - half :]}"


def caveats(numbers: Iterable[tuple[Measure, Labels]]) -> tuple[str, ...]:
    """The caveats of numbers, given the labels of each; every sentence once."""
    # A dict drops repeated sentences and keeps the order of the first ones.
    sentences: dict[str, None] = {}
    for measure, where in numbers:
        sentence = measure.caveat(where)
        if sentence:
            sentences[sentence] = None
    return tuple(sentences)


def plural(n: int, noun: str) -> str:
    """A number with its noun: "1 world", "2 worlds"."""
    if n == 1:
        return f"{n} {noun}"
    return f"{n} {noun}s"


def heading(title: str, unit: str) -> str:
    """A column's title, with the unit that its cells leave out."""
    sign = symbol(unit)
    if not sign:
        return title
    return f"{title}, {sign}"


def counted(n: int, clusters: int | None) -> str:
    """A number of observations, with that of their clusters where it is another.

    "200 in 5 clusters".
    """
    if clusters is None or clusters == n:
        return str(n)
    return f"{n} in {plural(clusters, 'cluster')}"


def inline(title: str) -> str:
    """A title within a sentence: lower-case unless it starts an abbreviation."""
    is_word = title[1:2].islower()
    if not is_word:
        return title
    return title[0].lower() + title[1:]


def symbol(unit: str) -> str:
    """The unit after a number: "%" for shares, nothing for counts.

    "1 / reward" becomes "per reward".
    """
    if unit in SYMBOLS:
        return SYMBOLS[unit]
    return unit.replace("1 / ", "per ", 1)


def number(value: float, unit: str, digits: int = 1) -> str:
    """A number without its unit; `digits` is the decimals of per cent."""
    # Rounded, a small p value would read as zero.
    if unit == "probability" and value < LEAST:
        return f"< {LEAST}"

    scale = 100 if unit == "share" else 1
    decimals = {"share": digits, "count": 0, "probability": 3}.get(unit, 2)
    # Adding zero removes the sign of a negative zero.
    rounded = round(scale * value, decimals) + 0.0
    return f"{rounded:.{decimals}f}".replace("-", MINUS)


def quantity(value: float, unit: str, digits: int = 1) -> str:
    """A number with its unit."""
    text = number(value, unit, digits)
    return f"{text}{SPACE}{symbol(unit)}".rstrip()


def difference_quantity(value: float, unit: str) -> str:
    """A difference with its unit: of two shares in percentage points, not per cent."""
    return quantity(value, unit).replace("%", "points")


def bounds(interval: Interval | None, unit: str, digits: int = 1) -> str:
    """The interval without its unit; empty for None."""
    if interval is None:
        return ""
    low, high = interval
    low_text = number(low, unit, digits)
    high_text = number(high, unit, digits)
    return f"[{low_text},{SPACE}{high_text}]"


def estimate(measurement: Measurement, digits: int = 1) -> str:
    """Number, unit and interval; without a number the reason."""
    if measurement.value is None:
        return f"not measured ({measurement.reason})"
    value = quantity(measurement.value, measurement.unit, digits)
    interval = bounds(measurement.interval, measurement.unit, digits)
    return f"{value} {interval}".strip()


def verdict_text(verdict: Verdict, unit: str) -> str:
    """The outcome of a test against a control, with difference and p value.

    Metrics name their own controls.
    """
    return outcome_text(verdict, control_text(verdict), unit)


def control_text(verdict: Verdict) -> str:
    """The name of what was tested against."""
    own = verdict.control.replace("_", " ")
    return CONTROLS.get(verdict.control, (own, ""))[0]


def outcome_text(verdict: Verdict, name: str, unit: str) -> str:
    """The outcome of a test against what is named so."""
    if verdict.p is None:
        return f"not tested against {name}: {verdict.reason}"
    if verdict.outcome == "none":
        return f"no difference from {name} shown{_power_text(verdict, unit)}"

    relation = (
        "differs from" if verdict.outcome == "different" else f"{verdict.outcome} than"
    )
    size = size_text(verdict, unit)
    return f"{relation} {name} by {size}, {certainty(verdict)}"


def size_text(verdict: Verdict, unit: str) -> str:
    """The size of a difference, without the sign that "better" and "worse" say."""
    interval = verdict.interval
    if verdict.difference < 0:
        interval = negated(interval)
    apart = difference_quantity(abs(verdict.difference), unit)
    return f"{apart} {bounds(interval, unit)}".strip()


def certainty(verdict: Verdict) -> str:
    """How sure a shown difference is: its p value, or of a control that was drawn several
    times that no draw reaches it.
    """
    if verdict.outside is None:
        return f"p{SPACE}{number(verdict.p or 0.0, 'probability')}"
    # The p value rests on the tails of a distribution of which few draws are known.
    outside = f"outside all {verdict.draws} {DRAWN[verdict.control]}"
    return outside if verdict.draws >= MANY else f"{outside}, assumed to be normal"


def _power_text(verdict: Verdict, unit: str) -> str:
    """What a test without a finding would have found."""
    if verdict.detectable is None:
        return ""
    detectable = difference_quantity(verdict.detectable, unit)
    return f" (one of {detectable} would likely show)"


def labels_text(labels: Labels) -> str:
    """Labels as a short phrase."""
    phrases = []
    for name, value in labels.items():
        text = f"{value:g}" if isinstance(value, float) else str(value)
        if name == GOAL_MOVED:
            phrases.append(f"goal{SPACE}{'moved' if value else 'in place'}")
        else:
            phrases.append(f"{name}{SPACE}{text}")
    return ", ".join(phrases)


def titled(measure: Measure, where: Labels) -> str:
    """The title of a number, and those labels that it does not have itself."""
    title, rest = measure.titled(where)
    return f"{title}: {labels_text(rest)}" if rest else title


def values_text(labels: Labels) -> str:
    """The values of labels alone, e.g. the name of a rival."""
    return " ".join(map(str, labels.values()))


def listed(texts: Sequence[str]) -> str:
    """Texts with commas, and "and" before the last."""
    *before, last = texts
    return f"{', '.join(before)} and {last}" if before else last


def setting_text(value: Json) -> str:
    """The value of a setting, as `--set` takes it."""
    return value if isinstance(value, str) else to_json(value)


def fit_text(fit: Fit) -> str:
    """A fit in words: the name of a control, else variant, layer and position."""
    if fit.control == "none":
        return place_text(fit)
    name, _ = CONTROLS[fit.control]
    return name


def place_text(fit: Fit) -> str:
    """Variant, layer and position of a fit."""
    position = at_position(fit.position)
    return f"{fit.variant}, layer {fit.layer}, {position}"
