"""The sentences of verdicts, which open a report."""

import re
from collections.abc import Sequence

from gde.data.measure import Measure, Measures
from gde.data.result import Measurement
from gde.reporting.wording import number, quantity

PLACE = re.compile(r"\{([\w.]*)\}")
SEPARATOR = "; "


def sentences(
    measurements: Sequence[Measurement], meanings: Measures, brief: bool = False
) -> list[str]:
    """The verdicts on the whole run, a sentence each; only its first part if brief."""
    first: dict[str, Measurement] = {}
    # A part of the run has the labels of its condition too.
    for one in sorted(measurements, key=lambda one: len(one.where)):
        first.setdefault(one.name, one)
    names = meanings.ordered(first)
    return [
        _sentence(meanings[name], first, brief)
        for name in names
        if meanings[name].sentence
    ]


def told(measure: Measure) -> set[str]:
    """The names of the numbers that a measure's sentence tells."""
    if not measure.sentence:
        return set()
    return {measure.name, *PLACE.findall(measure.sentence)}


def _sentence(measure: Measure, numbers: dict[str, Measurement], brief: bool) -> str:
    verdict = numbers[measure.name]
    if verdict.value is None:
        return f"{measure.title}: {verdict.reason}."

    def filled(place: re.Match[str]) -> str:
        name = place[1]
        if name in verdict.where:
            return str(verdict.where[name])
        return _text(numbers[name or measure.name])

    parts = []
    for part in measure.sentence.split(SEPARATOR):
        names = [name for name in PLACE.findall(part) if name not in verdict.where]
        found = [numbers.get(name or measure.name) for name in names]
        if all(each is not None and each.value is not None for each in found):
            parts.append(PLACE.sub(filled, part))
    if brief:
        parts = parts[:1]
    return f"{SEPARATOR.join(parts)}."


def _text(one: Measurement) -> str:
    assert one.value is not None
    if one.unit == "count":
        return f"{number(one.value, one.unit)} of {one.n}"
    return quantity(one.value, one.unit, 0)
