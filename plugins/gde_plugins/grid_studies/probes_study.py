"""The representational study of Arghal et al. (2026), section 5 and appendix F: its plans and its printed numbers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from gde.data.figure import Figure
from gde.data.json import Json, Labels
from gde.data.plan import Choice, Plan
from gde.data.result import Measurement
from gde.parts.reproduction import Comparison, Run
from gde_plugins.grid_studies.cogmap_study import (
    CONTROLS,
    DENSITIES,
    MAPS,
    SIZES,
    WORLDS,
    map_rows,
    without_layer,
)
from gde_plugins.grid_studies.lookup import find, scaled
from gde_plugins.grid_studies.map_figures import map_figure

MARKS: Mapping[str, str] = {"pre": "before reasoning", "post": "after reasoning"}
LAYERS_SIZE = 11
"""The size whose grids are read at three layers (appendix F.1)."""
TABLE_2: Sequence[tuple[str, str, float | None]] = (
    ("optimal on the true grid (Acc. GT)", "accuracy.true", None),
    ("optimal on the decoded map (Acc. Dec.)", "accuracy.decoded", None),
    ("optimal on both (Agreem.)", "agreement", 0.84),
    ("some action optimal on both (Agreem., released code)", "agreement.released", None),
    ("errors that are optimal on the decoded map (Rec.)", "recovery", None),
    ("errors where some action is optimal on both (Rec., released code)", "recovery.released", None),
    ("distance of all cells decoded as agent (Avg A)", "spread.agent", None),
    ("distance of all cells decoded as goal (Avg G)", "spread.goal", None),
    ("expected optimality on maps drawn from the decoded distribution", "expected", None),
    ("the same of a random action", "expected.chance", None),
)
"""Its cells are lost in the text that we have; the running text repeats one average."""
TABLE_5: Mapping[tuple[str, str], tuple[float, float]] = {
    ("mlp", "pre"): (3.16, 0.40),
    ("mlp", "post"): (2.67, 0.36),
    ("linear", "pre"): (3.40, 0.42),
    ("linear", "post"): (3.13, 0.47),
}
"""Variant and mark to mean absolute error and R2."""
READERS = ("mean", "manhattan", "length")
PREFIXES: Mapping[str, Mapping[int, float]] = {"pre": {1: 0.4031}, "post": {1: 0.5392}}
"""Mark to what is printed of prefix accuracy; the lengths of the other prefixes are lost."""
LENGTHS: Mapping[str, Mapping[str, float]] = {
    "pre": {"exact": 0.1571, "decoded": 4.81, "true": 4.93, "error": 1.0},
    "post": {"exact": 0.1885, "decoded": 5.05, "true": 4.93, "error": 1.0},
}
"""Table 6."""


CAUSES_WORLDS = 400
"""Grids whose held-out turns are asked again with the residual stream changed; of one size, so that few will do."""
CHANGES = (
    *("patching goal", "patching agent", "patching wall"),
    *("steering goal", "steering agent", "ablation goal", "ablation agent"),
)
BESIDE: Mapping[str, Sequence[str]] = {
    "patching": ("another grid",),
    "steering": ("random direction",),
    "ablation": ("random subspace",),
}
"""Kind of change to its controls."""
CALLED = {"ablation": "told from its control"}
"""What else than a cause is called. With the subspace of one thing goes some of what goes with it, so that an ablation
alone shows no cause."""
CAUSES = "What causes the action (beyond Arghal et al. 2026)"


class ProbesStudy:
    """300 grids of five sizes and six densities read by general probes, and those of each size by a probe of its own.

    Where Arghal et al. (2026) train on further, unpublished grids, here 30 % of the grids are held out and the others
    trained on. Distance and plan are of all turns, theirs of first ones.
    """

    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:
        """The general probes, and a plan for each size; that of size 11 reads early, middle and late layers. One more
        asks whether what a linear probe reads causes the actions."""
        general = Plan(
            environment=Choice(name="grid", config={"size": list(SIZES), "density": list(DENSITIES)}),
            agent=agent,
            probes=(MAPS, Choice(name="distance"), Choice(name="plan")),
            metrics=tuple(Choice(name=name) for name in ("success", "accuracy", "maps", "beliefs", "steps")),
            episodes=scaled(WORLDS, scale),
        )
        of_sizes = {f"size-{size}": _of_size(general, size) for size in SIZES}
        return {"general": general, **of_sizes, "causes": _causal(general, scaled(CAUSES_WORLDS, scale))}

    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:
        """Figures 6 to 9, tables 2, 5 and 6, and figures 14 and 15, as far as numbers are printed."""
        general = runs["general"].result.measurements
        numbers = without_layer(general)
        return [
            *map_rows(general),
            *_beliefs(numbers),
            *_distances(numbers),
            *_plans(numbers),
            *_layers(runs[f"size-{LAYERS_SIZE}"].result.measurements),
            *_causes(runs["causes"].result.measurements),
            *_sizes({size: without_layer(runs[f"size-{size}"].result.measurements) for size in SIZES}, numbers),
        ]

    def figures(self, runs: Mapping[str, Run]) -> Sequence[Figure]:
        """A decoded map of each size beside the true one (figure 5); the pages of the runs show more."""
        drawn = map_figure(runs["general"].evidence, "cogmap", "mlp", "pre")
        return () if drawn is None else (drawn,)


def _of_size(general: Plan, size: int) -> Plan:
    layers: list[Json] = ["early", "middle", "late"] if size == LAYERS_SIZE else ["middle"]
    config: dict[str, Json] = {"size": size, "variants": ["mlp"], "marks": ["pre"], "layer": layers}
    return replace(
        general,
        environment=Choice(name="grid", config={"size": size, "density": list(DENSITIES)}),
        probes=(Choice(name="cogmap", config=config),),
        metrics=(Choice(name="success"), Choice(name="maps")),
    )


def _causal(general: Plan, worlds: int) -> Plan:
    config: dict[str, Json] = {"size": 7, "variants": ["bilinear"], "marks": ["pre"]}
    return replace(
        general,
        environment=Choice(name="grid", config={"size": 7, "density": 0.6}),
        probes=(Choice(name="cogmap", config={**config, "layer": ["early", "middle", "late"]}),),
        metrics=(Choice(name="success"), Choice(name="causes")),
        episodes=worlds,
    )


def _causes(measurements: Sequence[Measurement]) -> Iterator[Comparison]:
    """The effect of each change at each layer and dose, beside its control and whether it is called a cause."""
    made = [one.where for one in measurements if one.where.get("change") in CHANGES]
    for change, layer in product(CHANGES, sorted({int(where["layer"]) for where in made})):
        for dose in sorted({float(where["dose"]) for where in made if where["change"] == change}):
            yield _cause(measurements, change, layer, dose)
    for thing in ("goal", "agent", "wall"):
        change = f"prompt with another {thing}"
        yield Comparison(
            quantity=f"{change}: how far it could go",
            paper=None,
            ours=find(measurements, "causes.effect", change=change, layer=-1, dose=1.0, control="none"),
            source="beyond Arghal et al. (2026)",
            table=CAUSES,
        )


def _cause(measurements: Sequence[Measurement], change: str, layer: int, dose: float) -> Comparison:
    kind = change.split()[0]
    where: Labels = {"change": change, "layer": layer, "dose": dose}
    others = {control: find(measurements, "causes.effect", **where, control=control) for control in BESIDE[kind]}
    told = {
        title: find(measurements, f"causes.{name}", **where, control="none")
        for title, name in (("p, corrected", "p"), (CALLED.get(kind, "called a cause"), "called"))
    }
    at = f"layer {layer}, dose {dose:g}" if kind == "steering" else f"layer {layer}"
    return Comparison(
        quantity=f"{change}, {at}: more of the predicted actions",
        paper=None,
        ours=find(measurements, "causes.effect", **where, control="none"),
        source="beyond Arghal et al. (2026)",
        table=CAUSES,
        others={**others, **told},
    )


def _beliefs(numbers: Sequence[Measurement]) -> Iterator[Comparison]:
    where: Labels = {"variant": "mlp", "mark": "pre"}
    for title, name, printed in TABLE_2:
        controls = {control: find(numbers, f"beliefs.{name}", **where, fit=control) for control in CONTROLS}
        yield Comparison(
            quantity=title,
            paper=printed,
            ours=find(numbers, f"beliefs.{name}", **where, fit="none"),
            source="Arghal et al. (2026), table 2 and section 5.2",
            table="Actions against decoded maps (section 5.2)",
            others=controls,
        )


def _distances(numbers: Sequence[Measurement]) -> Iterator[Comparison]:
    for (variant, mark), printed in TABLE_5.items():
        for name, title, paper in zip(("mae", "r2"), ("mean absolute error", "R2"), printed, strict=True):
            where: Labels = {"variant": variant, "mark": mark}
            readers = {each: find(numbers, f"distance.{name}.{each}", **where, control="none") for each in READERS}
            controls = {each: find(numbers, f"distance.{name}", **where, control=each) for each in CONTROLS}
            readers["decoded positions"] = find(numbers, f"steps.{name}", variant="mlp", mark=mark, fit="none")
            yield Comparison(
                quantity=f"{title}, {variant}, {MARKS[mark]}",
                paper=paper,
                ours=find(numbers, f"distance.{name}", **where, control="none"),
                source="Arghal et al. (2026), table 5",
                table="Distance to the goal (appendix F.3)",
                others={**readers, **controls},
            )


def _plans(numbers: Sequence[Measurement]) -> Iterator[Comparison]:
    for mark, n in product(MARKS, range(1, 6)):
        yield _plan(numbers, f"prefix.{n}", f"next {n} actions, {MARKS[mark]}", mark, PREFIXES[mark].get(n), "fig. 9")
    for mark, lengths in LENGTHS.items():
        for name, paper in lengths.items():
            yield _plan(numbers, f"length.{name}", f"length: {name}, {MARKS[mark]}", mark, paper, "table 6")


def _plan(
    numbers: Sequence[Measurement], name: str, title: str, mark: str, paper: float | None, source: str
) -> Comparison:
    where: Labels = {"variant": "oneshot", "mark": mark}
    others = {control: find(numbers, f"plan.{name}", **where, control=control) for control in CONTROLS}
    if name.startswith("prefix"):
        guesses = {each: name.replace("prefix", each) for each in ("random", "marginal")}
        guessed = {each: find(numbers, f"plan.{guess}", **where, control="none") for each, guess in guesses.items()}
        others = {**guessed, **others}
    return Comparison(
        quantity=title,
        paper=paper,
        ours=find(numbers, f"plan.{name}", **where, control="none"),
        source=f"Arghal et al. (2026), {source}",
        table="Plans (section 5.3 and appendix F.4)",
        others=others,
    )


def _layers(measurements: Sequence[Measurement]) -> Iterator[Comparison]:
    """Accuracy and localisation at each layer that was read, whose numbers are in a figure only."""
    shown = {"maps.accuracy": "cell accuracy", "maps.recall.goal": "recall of the goal", "maps.top1.goal": "goal top-1"}
    for one in measurements:
        if one.name in shown and one.where.get("fit") == "none" and "density" not in one.where:
            layer = one.where["layer"]
            yield Comparison(
                quantity=f"{shown[one.name]}, layer {layer}",
                paper=None,
                ours=one,
                source="Arghal et al. (2026), fig. 14",
                table=f"Layers, grids of size {LAYERS_SIZE} (appendix F.1)",
                others={"random weights": find(measurements, one.name, **{**one.where, "fit": "untrained"})},
            )


def _sizes(own: Mapping[int, Sequence[Measurement]], general: Sequence[Measurement]) -> Iterator[Comparison]:
    where: Labels = {"variant": "mlp", "mark": "pre", "fit": "none"}
    for size, name in product(own, ("maps.accuracy", "maps.recall.goal", "maps.recall.agent")):
        # Size 11 is read at three layers: the middle one is the second.
        found = [one for one in own[size] if one.name == name and dict(one.where) == where]
        yield Comparison(
            quantity=f"{name.removeprefix('maps.')}, size {size}",
            paper=None,
            ours=found[len(found) // 2] if found else find((), name, **where),
            source="Arghal et al. (2026), fig. 15",
            table="Probes of one size (appendix F.2)",
            others={"general probe": find(general, name, **where, size=size)},
        )
