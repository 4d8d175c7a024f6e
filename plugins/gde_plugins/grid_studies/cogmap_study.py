"""The probing study of Arghal et al. (2026), section 5.1: its printed numbers, and the
plan that re-runs it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gde.data.figure import Figure
from gde.data.json import Json, Labels
from gde.data.plan import Choice, Plan
from gde.data.result import Measurement
from gde.parts.reproduction import Comparison, Run
from gde_plugins.grid_studies.lookup import find, scaled

SIZES = (7, 9, 11, 13, 15)
DENSITIES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
WORLDS = 10
"""Grids for each pair of size and density (section 4)."""
MAPS = Choice(
    name="cogmap",
    config={"size": max(SIZES), "variants": ["mlp", "linear", "bilinear"]},
)
"""The general probe in the two forms of the publication, and in one that is linear in
the activations and can peak.
"""
LEAST = 30
"""With fewer training worlds nothing is compared."""
FEW = 1000
"""With fewer training worlds there is a warning. Arghal et al. (2026) train on several
thousand.
"""
CONTROLS = ("coordinates", "shuffled", "untrained", "embeddings")


@dataclass(frozen=True)
class Printed:
    """A printed number, and the measurement that answers it: of all sizes, or the least
    or greatest of them.
    """

    quantity: str
    value: float | None
    """None for a form of the probe that is not published."""
    source: str
    variant: str
    position: str
    measurement: str = "maps.accuracy"
    of_sizes: str = ""


FIG_6 = "section 5.1, fig. 6"
FIG_7 = "section 5.1, fig. 7"
FIG_8 = "section 5.1, fig. 8"
PLACELESS = "a form that cannot find places, see docs/statistics.md"
PRINTED = (
    Printed("cell accuracy, MLP, before reasoning", 0.75, FIG_8, "mlp", "pre"),
    Printed("cell accuracy, MLP, after reasoning", 0.60, FIG_8, "mlp", "post"),
    Printed(
        "cell accuracy, linear, before reasoning",
        0.391,
        f"{FIG_6}; {PLACELESS}",
        "linear",
        "pre",
    ),
    Printed(
        "cell accuracy, bilinear, before reasoning",
        None,
        "a linear form that can, not printed",
        "bilinear",
        "pre",
    ),
    Printed(
        "cell accuracy, MLP, best size", 0.757, FIG_6, "mlp", "pre", of_sizes="greatest"
    ),
    Printed(
        "recall of the goal, worst size",
        0.83,
        FIG_6,
        "mlp",
        "pre",
        "maps.recall.goal",
        "least",
    ),
    Printed(
        "recall of the goal, best size",
        0.99,
        FIG_6,
        "mlp",
        "pre",
        "maps.recall.goal",
        "greatest",
    ),
    Printed(
        "recall of the agent, worst size",
        0.72,
        FIG_6,
        "mlp",
        "pre",
        "maps.recall.agent",
        "least",
    ),
    Printed(
        "recall of the agent, best size",
        1.00,
        FIG_6,
        "mlp",
        "pre",
        "maps.recall.agent",
        "greatest",
    ),
    Printed(
        "distance of the agent, worst size (printed: below)",
        2,
        FIG_7,
        "mlp",
        "pre",
        "maps.distance.agent",
        "greatest",
    ),
    Printed(
        "distance of the goal, worst size (printed: below)",
        2,
        FIG_7,
        "mlp",
        "pre",
        "maps.distance.goal",
        "greatest",
    ),
)


class CogmapStudy:
    """300 grids of five sizes and six densities, one general probe padded to size 15.

    Arghal et al. (2026) train on some 6,000 further single-step samples that were not
    printed; here training and held-out grids are drawn from the same 300, so at scale 1
    the probe sees fewer grids than theirs. Scores are of the same quantity: first
    turns, the cells of the true grid, padding not chosen.
    """

    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:
        """The study's one plan with `scale` times its ten grids a condition, at least
        one.
        """
        grids: dict[str, Json] = {"size": list(SIZES), "density": list(DENSITIES)}
        plan = Plan(
            environment=Choice(name="grid", config=grids),
            agent=agent,
            probes=(MAPS,),
            metrics=(
                Choice(name="success"),
                Choice(name="accuracy"),
                Choice(name="maps"),
            ),
            episodes=scaled(WORLDS, scale),
        )
        return {"cogmap": plan}

    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:
        """Every printed number beside ours and its controls."""
        return [*map_rows(runs["cogmap"].result.measurements)]

    def figures(self, runs: Mapping[str, Run]) -> Sequence[Figure]:  # noqa: ARG002
        """None: the page of the run shows the decoded maps."""
        return ()


def map_rows(measurements: Sequence[Measurement]) -> Iterator[Comparison]:
    """The printed numbers of cognitive maps beside those of a run, its controls and a
    reader without activations.

    Where the best or worst size is printed, ours and its controls are of our best or
    worst size.
    """
    numbers = without_layer(measurements)
    worlds = find(numbers, "maps.worlds", variant="mlp", position="pre", fit="none")
    n = int(worlds.value or 0)
    table = "Cognitive maps in first turns (section 5.1)"
    if n < LEAST:
        table += f": too few to compare, {n} worlds trained on"
    elif n < FEW:
        table += f": only {n} worlds trained on"

    for printed in PRINTED:
        ours = _ours(numbers, printed)
        if n < LEAST:
            ours = Measurement(
                name=ours.name,
                value=None,
                unit=ours.unit,
                n=ours.n,
                reason=f"fitted on {n} worlds: wanted {LEAST} or more; give a larger --scale",
            )

        # Numbers beside a missing one would be compared with the publication in its
        # place.
        others = {}
        if ours.value is not None:
            others = dict(_beside(numbers, ours))
        source = f"Arghal et al. (2026), {printed.source}"
        if "size" in ours.where:
            source += f"; ours of size {ours.where['size']}"
        yield Comparison(
            quantity=printed.quantity,
            paper=printed.value,
            ours=ours,
            source=source,
            table=table,
            others=others,
        )

    yield Comparison(
        quantity="worlds trained on",
        paper=None,
        ours=worlds,
        source="section 5.1",
        table=table,
    )


def without_layer(measurements: Sequence[Measurement]) -> list[Measurement]:
    """The measurements without the label of their layer, where only one layer was
    read.
    """
    numbers = []
    for one in measurements:
        where = dict(one.where)
        where.pop("layer", None)
        numbers.append(replace(one, where=where))
    return numbers


def _ours(numbers: Sequence[Measurement], printed: Printed) -> Measurement:
    """The measurement that answers a printed number."""
    where: Labels = {
        "variant": printed.variant,
        "position": printed.position,
        "fit": "none",
    }
    if not printed.of_sizes:
        return find(numbers, printed.measurement, **where)

    sized = []
    for one in numbers:
        # Of a size, and of nothing else: not of a density.
        is_of_size = one.where == {**where, "size": one.where.get("size")}
        if is_of_size and one.name == printed.measurement and one.value is not None:
            sized.append(one)
    if not sized:
        return find((), printed.measurement, **where)
    if printed.of_sizes == "greatest":
        return max(sized, key=lambda one: one.value or 0.0)
    return min(sized, key=lambda one: one.value or 0.0)


def _beside(
    numbers: Sequence[Measurement], ours: Measurement
) -> Iterator[tuple[str, Measurement]]:
    """The same quantity of the same size: of baselines and controls."""
    where = ours.where
    if ours.name == "maps.accuracy":
        # Selectivity is not broken down by size.
        if "size" not in where:
            yield (
                "less with shuffled labels",
                find(numbers, "maps.selectivity", **where),
            )
        yield "commonest class", find(numbers, "maps.accuracy.majority", **where)

    for control in CONTROLS:
        of_control: Labels = {**where, "fit": control}
        yield control, find(numbers, ours.name, **of_control)
