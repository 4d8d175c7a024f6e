"""A curve of how well a probe reads each layer, beside its best control there."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gde.data.figure import Figure
from gde.data.probe import Arm
from gde.data.result import Measurement, Result
from gde.reporting.figures.drawing import BLUE, numbers, unit_title
from gde.reporting.findings import Probed, beside

GREY = "#8a929a"
SIZE = {"width": 300, "height": 130}
DECODED = "decoded"
CONTROL = "best control"


def layer_curve(probe: Probed, result: Result) -> Figure | None:
    """The first headline of a probe by layer; None where the probe read only one layer at its mark."""
    if not probe.numbers:
        return None
    measure = probe.numbers[0].measure
    arms = _arms(result, measure.name)
    own = [arm for arm in arms if replace(arm, layer=probe.arm.layer) == probe.arm]
    if len(own) < 2:
        return None

    rows: list[dict[str, Any]] = []
    for arm in sorted(own, key=lambda arm: arm.layer):
        rows.append({"layer": arm.layer, "of": DECODED, **numbers(arms[arm])})
        rival = beside(measure, arms[arm], _controls(arm, arms)).rival
        if rival is not None:
            rows.append({"layer": arm.layer, "of": CONTROL, **numbers(rival)})

    x = {"field": "layer", "type": "ordinal", "title": "layer", "axis": {"labelAngle": 0}}
    y = {"field": "value", "type": "quantitative", "title": unit_title(probe.numbers[0].ours.unit)}
    color = {
        "field": "of",
        "type": "nominal",
        "title": None,
        "scale": {"domain": [DECODED, CONTROL], "range": [BLUE, GREY]},
        "legend": {"orient": "top"},
    }
    whisker = {"mark": "rule", "encoding": {"y": {**y, "field": "low"}, "y2": {"field": "high"}}}
    curve = {"mark": {"type": "line", "point": True}, "encoding": {"y": y}}
    spec: dict[str, Any] = {
        "data": {"values": rows},
        "encoding": {"x": x, "color": color},
        "layer": [whisker, curve],
        **SIZE,
    }
    return Figure(title=f"{measure.title} by layer, {probe.arm.probe}", caption="Bars are 95 % intervals.", spec=spec)


def _arms(result: Result, name: str) -> Mapping[Arm, Measurement]:
    """The number of this name of each arm, over all held-out worlds."""
    found: dict[Arm, Measurement] = {}
    for one in result.measurements:
        if one.name != name or one.value is None:
            continue
        arm = Arm.of(one)
        # More labels than those of the arm mean a number of a part of the worlds.
        if arm is not None and one.where.keys() == arm.where.keys():
            found[arm] = one
    return found


def _controls(arm: Arm, arms: Mapping[Arm, Measurement]) -> Mapping[Arm, Sequence[Measurement]]:
    """The controls of an arm, each with its number."""
    return {other: [one] for other, one in arms.items() if other != arm and replace(other, control="none") == arm}
