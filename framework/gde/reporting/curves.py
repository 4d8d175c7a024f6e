"""Learning curves: what a probe and its controls read after ever more worlds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gde.data.grouping import grouped
from gde.data.measure import Measure
from gde.data.probe import Fit
from gde.data.result import Measurement, Result
from gde.reporting.findings import Probed
from gde.reporting.wording import CONTROLS
from gde.stages.learning import CURVE

MODEL = "model"
SHOWN = 2
"""Curves of a probe, at most."""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """The scores of one kind, of a probe's main fit and of its controls."""

    measure: Measure
    """Of the score."""
    lines: Mapping[str, Sequence[Measurement]]
    """The points by "model" or the control in words; their label `worlds` says how many
    were fitted.
    """


def curves(probe: Probed, result: Result) -> list[Curve]:
    """The curves to show: shares where there are any, else the first ones."""
    prefix = f"{probe.fit.probe}.{CURVE}."
    points = []
    for one in result.measurements:
        is_point = one.name.startswith(prefix) and "worlds" in one.where
        if is_point and one.value is not None:
            fit = Fit.of(one)
            if fit is not None and replace(fit, control="none") == probe.fit:
                points.append((fit, one))

    found = []
    for name, own in grouped(points, lambda each: each[1].name).items():
        lines = grouped(own, lambda each: _of(each[0]))
        scored = name.replace(f".{CURVE}.", ".", 1)
        found.append(
            Curve(
                measure=result.meanings[scored],
                lines={of: [one for _, one in each] for of, each in lines.items()},
            )
        )
    shares = [one for one in found if one.measure.unit == "share"]
    return (shares or found)[:SHOWN]


def _of(fit: Fit) -> str:
    return MODEL if fit.control == "none" else CONTROLS[fit.control][0]
