"""Numbers and names as people read them."""

from collections.abc import Iterable, Mapping

from gde.data.json import Labels
from gde.data.measure import Measure
from gde.data.probe import Arm
from gde.data.result import Measurement
from gde.numerics.stats import Interval

SPACE = "\u00a0"
"""No line breaks between a number and its unit."""
MINUS = "\u2212"
CONTROLS: Mapping[str, tuple[str, str]] = {
    "coordinates": ("coordinates only", "told what is asked for, shown no activations"),
    "shuffled": ("shuffled labels", "fitted to the truth of other turns"),
    "untrained": ("random weights", "the same architecture, never trained"),
    "embeddings": ("bag of tokens", "the mean input embedding of all that was read"),
}
"""A control's name and what is taken away from the probe in it."""
LEAST = 0.001
"""Smaller probabilities are not told apart."""
MARKS: Mapping[str, str] = {"pre": "before reasoning", "post": "after reasoning", "reasoning": "while reasoning"}


def caveats(numbers: Iterable[tuple[Measure, Labels]]) -> tuple[str, ...]:
    """What a reader must know of some of the numbers, given what each is restricted to; every sentence once."""
    told = (measure.caveat(where) for measure, where in numbers)
    return tuple(dict.fromkeys(filter(None, told)))


def heading(title: str, unit: str) -> str:
    """A column's title, with the unit that its cells leave out."""
    return f"{title}, {symbol(unit)}" if symbol(unit) else title


def inline(title: str) -> str:
    """A title within a sentence: without its capital, unless that belongs to an abbreviation."""
    return title[:1].lower() + title[1:] if title[1:2].islower() else title


def symbol(unit: str) -> str:
    """The unit as it follows a number; shares are shown in per cent, and "1 / reward" is per reward."""
    return {"share": "%", "count": "", "probability": "", "distance": ""}.get(unit, unit.replace("1 / ", "per ", 1))


def number(value: float, unit: str, digits: int = 1) -> str:
    """A number without its unit; `digits` decimals for per cent."""
    if unit == "probability" and value < LEAST:
        return f"< {LEAST}"
    scale, decimals = {"share": (100, digits), "count": (1, 0), "probability": (1, 3)}.get(unit, (1, 2))
    rounded = round(scale * value, decimals) + 0.0  # zero has no sign
    return f"{rounded:.{decimals}f}".replace("-", MINUS)


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


def arm_text(arm: Arm) -> str:
    """What of a probe an arm is: its model, layer and moment, or what is taken away from it."""
    return place_text(arm) if arm.control == "none" else CONTROLS[arm.control][0]


def place_text(arm: Arm) -> str:
    """What of a probe an arm is, or is a control of."""
    return f"{arm.variant}, layer {arm.layer}, {MARKS.get(arm.mark, arm.mark)}"


def _label(value: str | int | float | bool) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
