"""Numbers and names as people read them."""

from collections.abc import Iterable, Mapping

from gde.data.json import Labels
from gde.data.measure import Measure
from gde.data.probe import Fit
from gde.data.result import Measurement
from gde.numerics.stats import Interval

SPACE = "\u00a0"
"""No line break between a number and its unit."""
MINUS = "\u2212"
CONTROLS: Mapping[str, tuple[str, str]] = {
    "coordinates": ("coordinates only", "gets the coordinates asked for, but no activations"),
    "shuffled": ("shuffled labels", "fitted to the labels of other turns"),
    "untrained": ("random weights", "the same architecture, never trained"),
    "embeddings": ("bag of tokens", "the mean input embedding of all tokens read"),
}
"""A control's name, and how it differs from the probe."""
LEAST = 0.001
"""Smaller probabilities are shown as "< 0.001"."""
POSITIONS: Mapping[str, str] = {"pre": "before reasoning", "post": "after reasoning", "reasoning": "while reasoning"}


def caveats(numbers: Iterable[tuple[Measure, Labels]]) -> tuple[str, ...]:
    """The caveats of numbers, given the labels of each; every sentence once."""
    sentences = [measure.caveat(where) for measure, where in numbers]
    return tuple(dict.fromkeys(filter(None, sentences)))


def plural(n: int, noun: str) -> str:
    """A number with its noun: "1 world", "2 worlds"."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def heading(title: str, unit: str) -> str:
    """A column's title, with the unit that its cells leave out."""
    return f"{title}, {symbol(unit)}" if symbol(unit) else title


def inline(title: str) -> str:
    """A title within a sentence: without its capital, unless that belongs to an abbreviation."""
    return title[:1].lower() + title[1:] if title[1:2].islower() else title


def symbol(unit: str) -> str:
    """The unit as it follows a number: "%" for shares, nothing for counts, "per reward" for "1 / reward"."""
    symbols = {"share": "%", "count": "", "probability": "", "distance": ""}
    return symbols.get(unit, unit.replace("1 / ", "per ", 1))


def number(value: float, unit: str, digits: int = 1) -> str:
    """A number without its unit; `digits` is the decimals of per cent."""
    if unit == "probability" and value < LEAST:
        return f"< {LEAST}"
    scale, decimals = {"share": (100, digits), "count": (1, 0), "probability": (1, 3)}.get(unit, (1, 2))
    # Adding zero removes the sign of a negative zero.
    rounded = round(scale * value, decimals) + 0.0
    return f"{rounded:.{decimals}f}".replace("-", MINUS)


def quantity(value: float, unit: str, digits: int = 1) -> str:
    """A number with its unit."""
    return f"{number(value, unit, digits)}{SPACE}{symbol(unit)}".rstrip()


def bounds(interval: Interval | None, unit: str, digits: int = 1) -> str:
    """The interval without its unit; empty for None."""
    if interval is None:
        return ""
    low, high = interval
    return f"[{number(low, unit, digits)},{SPACE}{number(high, unit, digits)}]"


def estimate(measurement: Measurement, digits: int = 1) -> str:
    """Number, unit and interval; without a number the reason."""
    if measurement.value is None:
        return f"not measured ({measurement.reason})"
    value = quantity(measurement.value, measurement.unit, digits)
    return f"{value} {bounds(measurement.interval, measurement.unit, digits)}".strip()


def labels_text(labels: Labels) -> str:
    """Labels as a short phrase."""
    phrases = []
    for name, value in labels.items():
        text = f"{value:g}" if isinstance(value, float) else str(value)
        phrases.append(f"{name}{SPACE}{text}")
    return ", ".join(phrases)


def fit_text(fit: Fit) -> str:
    """A fit in words: the name of a control, else variant, layer and position."""
    return place_text(fit) if fit.control == "none" else CONTROLS[fit.control][0]


def place_text(fit: Fit) -> str:
    """Variant, layer and position of a fit."""
    return f"{fit.variant}, layer {fit.layer}, {POSITIONS.get(fit.position, fit.position)}"
