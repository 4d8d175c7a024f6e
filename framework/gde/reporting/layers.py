"""How well a probe reads each layer, beside the best of its controls there."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gde.data.figure import Figure
from gde.data.probe import Arm
from gde.data.result import Measurement, Result
from gde.reporting.drawing import BLUE, numbers, unit_title
from gde.reporting.findings import Probed, beside

GREY = "#8a929a"
SIZE = {"width": 300, "height": 130}


def layer_curve(probe: Probed, result: Result) -> Iterator[Figure]:
    """The first headline of a probe by layer, where it reads several at the same mark; else nothing."""
    if not probe.numbers:
        return
    measure, unit = probe.numbers[0].measure, probe.numbers[0].ours.unit
    arms = _arms(result, measure.name)
    own = sorted((arm for arm in arms if replace(arm, layer=probe.arm.layer) == probe.arm), key=lambda arm: arm.layer)
    if len(own) < 2:
        return
    rows = [row for arm in own for row in _points(arm, arms, beside(measure, arms[arm], _controls(arm, arms)).rival)]
    y = {"field": "value", "type": "quantitative", "title": unit_title(unit)}
    x = {"field": "layer", "type": "ordinal", "title": "layer", "axis": {"labelAngle": 0}}
    names = ["decoded", "best control"]
    color = {"field": "of", "type": "nominal", "title": None, "scale": {"domain": names, "range": [BLUE, GREY]}}
    whisker = {"mark": "rule", "encoding": {"y": {**y, "field": "low"}, "y2": {"field": "high"}}}
    spec: dict[str, Any] = {
        "data": {"values": rows},
        "encoding": {"x": x, "color": {**color, "legend": {"orient": "top"}}},
        "layer": [whisker, {"mark": {"type": "line", "point": True}, "encoding": {"y": y}}],
        **SIZE,
    }
    yield Figure(title=f"{measure.title} by layer, {probe.arm.probe}", caption="Bars are 95 % intervals.", spec=spec)


def _arms(result: Result, name: str) -> Mapping[Arm, Measurement]:
    """The number of this name of each arm, over all worlds held out."""
    found: dict[Arm, Measurement] = {}
    for one in result.measurements:
        arm = Arm.of(one)
        if arm is not None and one.name == name and one.value is not None and one.where.keys() == arm.where.keys():
            found[arm] = one
    return found


def _controls(arm: Arm, arms: Mapping[Arm, Measurement]) -> Mapping[Arm, Sequence[Measurement]]:
    return {other: [one] for other, one in arms.items() if other != arm and replace(other, control="none") == arm}


def _points(arm: Arm, arms: Mapping[Arm, Measurement], rival: Measurement | None) -> Iterator[dict[str, Any]]:
    yield {"layer": arm.layer, "of": "decoded", **numbers(arms[arm])}
    if rival is not None:
        yield {"layer": arm.layer, "of": "best control", **numbers(rival)}
