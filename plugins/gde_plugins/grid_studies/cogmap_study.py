"""The probing study of Arghal et al. (2026), section 5.1: what is printed of it, and the plan that re-runs it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gde.data.figure import Figure
from gde.data.json import Labels
from gde.data.plan import Choice, Plan
from gde.data.result import Measurement
from gde.parts.reproduction import Comparison, Run
from gde_plugins.grid_studies.lookup import find, scaled

SIZES = (7, 9, 11, 13, 15)
DENSITIES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
WORLDS = 10
"""Grids for each pair of size and density (section 4)."""


@dataclass(frozen=True)
class Printed:
    """A printed number and the measurement of ours that answers it."""

    quantity: str
    value: float
    source: str
    variant: str
    mark: str
    measurement: str = "cogmap.accuracy"


PRINTED = (
    Printed("cell accuracy, MLP, before reasoning", 0.75, "section 5.1, fig. 8", "mlp", "pre"),
    Printed("cell accuracy, MLP, after reasoning", 0.60, "section 5.1, fig. 8", "mlp", "post"),
    Printed("cell accuracy, linear, before reasoning", 0.391, "section 5.1, fig. 6", "linear", "pre"),
)


class CogmapStudy:
    """300 grids of five sizes and six densities, one general probe padded to size 15.

    Arghal et al. (2026) train on some 6,000 further single-step samples that were not printed; here training and
    held-out grids are drawn from the same 300, so at scale 1 the probe sees fewer grids than theirs.
    """

    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:
        """The study's one plan with `scale` times its ten grids a stratum, at least one."""
        plan = Plan(
            environment=Choice(name="grid", config={"size": list(SIZES), "density": list(DENSITIES)}),
            agent=agent,
            probes=(Choice(name="cogmap", config={"size": max(SIZES)}),),
            episodes=scaled(WORLDS, scale),
        )
        return {"cogmap": plan}

    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:
        """Every printed number beside ours."""
        return [
            Comparison(
                quantity=printed.quantity,
                paper=printed.value,
                ours=_find(runs["cogmap"].result.measurements, printed),
                source=f"Arghal et al. (2026), {printed.source}",
            )
            for printed in PRINTED
        ]

    def figures(self, runs: Mapping[str, Run]) -> Sequence[Figure]:  # noqa: ARG002
        """None: the page of the run shows the decoded maps."""
        return ()


def _find(measurements: Sequence[Measurement], printed: Printed) -> Measurement:
    """The printed arm's measurement, whichever layer was read."""
    anywhere = [replace(one, where=_without_layer(one)) for one in measurements]
    return find(anywhere, printed.measurement, variant=printed.variant, mark=printed.mark, control="none")


def _without_layer(one: Measurement) -> Labels:
    return {key: value for key, value in one.where.items() if key != "layer"}
