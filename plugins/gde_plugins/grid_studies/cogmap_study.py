"""The probing study of Arghal et al. (2026), section 5.1: its printed numbers, and the
plan that re-runs it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gde.data.figure import Figure
from gde.data.json import Json, Labels
from gde.data.plan import Choice, Plan
from gde.data.probe import CONTROLS
from gde.data.result import Measurement
from gde.parts.reproduction import Comparison, Run, scaled
from gde_plugins.grid_studies.config import CogmapStudyConfig, InputForm
from gde_plugins.grid_studies.lookup import find
from gde_plugins.grid_studies.published import NUMBERS
from gde_plugins.grid_studies.published_agent import published

SIZES = (7, 9, 11, 13, 15)
DENSITIES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
WORLDS = 10
"""Grids for each pair of size and density (section 4)."""
GENERAL: Mapping[str, Json] = {
    "size": max(SIZES),
    "variants": ["mlp", "linear", "bilinear"],
    "turns": "all",
}
"""The general probe in the two variants of the publication, and in one that is linear
in the activations and can peak.
"""
TRAINING: Mapping[InputForm, Mapping[str, Json]] = {
    "z-scored": {"whiten": False, "epochs": 30},
    "whitened": {"whiten": True, "epochs": 20},
}
"""Form of the inputs to the training of `cogmap`.

Without whitening, the MLP takes more steps. On nano's activations in 126 training
grids, its loss in held-out turns is least after 30 epochs. After more, only the loss in
training falls (CONTRIBUTING.md).
"""
WHITENED = "whitened"
"""The plan of the run with whitened inputs, where both forms are compared."""
LEAST = 30
"""With fewer training worlds nothing is compared."""
FEW = 1000
"""With fewer training worlds there is a warning. Arghal et al. (2026) train on several
thousand.
"""


@dataclass(frozen=True)
class Printed:
    """A printed number, and the measurement that answers it: of all sizes, or the least
    or greatest of them.
    """

    quantity: str
    source: str
    variant: str
    position: str
    value: float | None = None
    """None for a form of the probe that is not published."""
    measurement: str = "maps.accuracy"
    of_sizes: str = ""


PRINTED = tuple(Printed(**each) for each in NUMBERS["maps"])


@dataclass(frozen=True)
class CogmapStudy:
    """300 grids of five sizes and six densities, one general probe padded to size 15.

    Inputs are z-scored as published. One more run whitens them, and its numbers stand
    in the same table.

    Arghal et al. (2026) train on some 6,000 further single-step samples that were not
    printed; here training and held-out grids are drawn from the same 300, so at scale 1
    the probe sees fewer grids than theirs. Scores are of the same quantity: first
    turns, the cells of the true grid, padding not chosen.
    """

    config: CogmapStudyConfig = field(default_factory=CogmapStudyConfig)

    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:
        """A plan for each form of the inputs, with `scale` times the ten grids a
        condition, at least one.
        """
        grids: dict[str, Json] = {"size": list(SIZES), "density": list(DENSITIES)}
        plan = Plan(
            environment=Choice(name="grid", config=grids),
            agent=published(agent),
            probes=(map_probe(self.config.forms[0], GENERAL),),
            metrics=("success", "accuracy", "maps"),
            episodes=scaled(WORLDS, scale),
        )
        plans = {"cogmap": plan}
        for form in self.config.forms[1:]:
            plans[WHITENED] = replace(plan, probes=(map_probe(form, GENERAL),))
        return plans

    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:
        """Every printed number beside ours and its controls."""
        measured = by_form(self.config, runs, "cogmap")
        return [*map_rows(measured)]

    def figures(self, runs: Mapping[str, Run]) -> Sequence[Figure]:  # noqa: ARG002
        """None: the page of the run shows the decoded maps."""
        return ()


def map_probe(form: InputForm, config: Mapping[str, Json]) -> Choice:
    """The probe of maps with this configuration, trained on this form of its inputs."""
    return Choice(name="cogmap", config={**config, **TRAINING[form]})


ByForm = Mapping[InputForm, Sequence[Measurement]]
"""Form of the inputs to measurements without layers."""


def by_form(config: CogmapStudyConfig, runs: Mapping[str, Run], main: str) -> ByForm:
    """The measurements of each form of the inputs; the first is that of the run
    `main`.
    """
    names = (main, WHITENED)
    measured = {}
    for form, name in zip(config.forms, names, strict=False):
        measured[form] = without_layer(runs[name].result.measurements)
    return measured


def map_rows(measured: ByForm) -> Iterator[Comparison]:
    """The printed numbers of cognitive maps beside those of each form of the inputs,
    its controls and a reader without activations.

    Where the best or worst size is printed, ours and its controls are of our best or
    worst size.
    """
    first = next(iter(measured.values()))
    worlds = find(first, "maps.worlds", variant="mlp", position="pre", fit="none")
    n = int(worlds.value or 0)
    table = "Cognitive maps in first turns (section 5.1)"
    if n < LEAST:
        table += f": too few to compare, {n} worlds trained on"
    elif n < FEW:
        table += f": only {n} worlds trained on"

    for printed in PRINTED:
        for form, numbers in measured.items():
            row = _row(printed, form, numbers, n)
            yield replace(row, table=table)

    yield Comparison(
        quantity="worlds trained on",
        paper=None,
        ours=worlds,
        source="section 5.1",
        table=table,
    )


def _row(
    printed: Printed, form: InputForm, numbers: Sequence[Measurement], n_worlds: int
) -> Comparison:
    """A printed number beside ours of one form of the inputs."""
    ours = _ours(numbers, printed)
    if n_worlds < LEAST:
        ours = Measurement(
            name=ours.name,
            value=None,
            unit=ours.unit,
            n=ours.n,
            reason=f"fitted on {n_worlds} worlds: wanted {LEAST} or more; give a larger scale",
        )

    # Numbers beside a missing one would be compared with the publication in its place.
    others = {}
    if ours.value is not None:
        others = dict(_beside(numbers, ours))
    source = f"Arghal et al. (2026), {printed.source}"
    if "size" in ours.where:
        source += f"; ours of size {ours.where['size']}"
    return Comparison(
        quantity=of_form(printed.quantity, form),
        paper=as_published(printed.value, form),
        ours=ours,
        source=source,
        others=others,
    )


def of_form(quantity: str, form: InputForm) -> str:
    """The title of a row, with the form of its inputs."""
    return f"{quantity}, {form} inputs"


def as_published(printed: float | None, form: InputForm) -> float | None:
    """The printed number; None for whitened inputs, of which none is printed."""
    return printed if form == "z-scored" else None


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
        yield "commonest class", find(numbers, "maps.accuracy.majority", **where)

    for control in CONTROLS:
        of_control: Labels = {**where, "fit": control}
        yield control, find(numbers, ours.name, **of_control)
