"""Rows of the representational study: printed numbers beside measured ones (Arghal et
al. 2026, section 5 and appendix F), and causal tests, which they do not have.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from gde.data.cell_map import KINDS
from gde.data.json import Labels
from gde.data.probe import CONTROLS
from gde.data.result import Measurement
from gde.parts.reproduction import Comparison
from gde_plugins.grid_studies.cogmap_study import (
    DENSITIES,
    SIZES,
    ByForm,
    as_published,
    of_form,
    without_layer,
)
from gde_plugins.grid_studies.config import InputForm, Turns
from gde_plugins.grid_studies.lookup import find

POSITIONS: Mapping[str, str] = {"pre": "before reasoning", "post": "after reasoning"}
TABLE_5: Mapping[tuple[str, str], tuple[float, float]] = {
    ("mlp", "pre"): (3.16, 0.40),
    ("mlp", "post"): (2.67, 0.36),
    ("linear", "pre"): (3.40, 0.42),
    ("linear", "post"): (3.13, 0.47),
}
"""Variant and position to mean absolute error and R2."""
READERS = ("mean", "manhattan", "length")
HORIZON = 10
"""Number of decoded actions, the end of the episode counted as one."""
PREFIXES: Mapping[str, Mapping[int, float]] = {
    "pre": {1: 0.4031},
    "post": {1: 0.5392},
}
"""Position to the printed prefix accuracies, by length; the others are lost in the text
that we have.
"""
GUESSES = ("random", "marginal")
LENGTHS: Mapping[str, Mapping[str, float]] = {
    "pre": {"exact": 0.1571, "decoded": 4.81, "true": 4.93, "error": 1.0},
    "post": {"exact": 0.1885, "decoded": 5.05, "true": 4.93, "error": 1.0},
}
"""Table 6."""


def distance_rows(measured: ByForm, turns: Turns) -> Iterator[Comparison]:
    """Table 5, beside baselines without activations and controls."""
    table = f"Distance to the goal in {turns} turns (appendix F.3)"
    first = next(iter(measured.values()))
    for (variant, position), (mae, r2) in TABLE_5.items():
        # The linear variant, ridge regression, z-scores its inputs always.
        forms: ByForm = {"z-scored": first} if variant == "linear" else measured
        printed = (("mae", "mean absolute error", mae), ("r2", "R2", r2))
        for score, title, paper in printed:
            for form, numbers in forms.items():
                row = _distance_row(numbers, score, variant, position, turns)
                quantity = f"{title}, {variant}, {POSITIONS[position]}"
                yield replace(
                    row,
                    quantity=of_form(quantity, form),
                    paper=as_published(paper, form),
                    table=table,
                )


def _distance_row(
    numbers: Sequence[Measurement],
    score: str,
    variant: str,
    position: str,
    turns: Turns,
) -> Comparison:
    """A score of the probe beside its baselines and controls, without a title."""
    name = f"distance.{score}"
    where: Labels = {"variant": variant, "position": position}
    others = {}
    for reader in READERS:
        others[reader] = find(numbers, f"{name}.{reader}", **where, control="none")
    # The metric `steps` reads the maps of the MLP, whatever the variant of the row, and
    # those of all turns.
    if turns == "all":
        others["decoded positions"] = find(
            numbers, f"steps.{score}", variant="mlp", position=position, fit="none"
        )
    for control in CONTROLS:
        others[control] = find(numbers, name, **where, control=control)

    return Comparison(
        quantity="",
        paper=None,
        ours=find(numbers, name, **where, control="none"),
        source="Arghal et al. (2026), table 5",
        others=others,
    )


def plan_rows(numbers: Sequence[Measurement], turns: Turns) -> Iterator[Comparison]:
    """Figure 9 and table 6, beside guesses and controls."""
    for row in _plan_rows(numbers):
        table = f"Plans in {turns} turns (section 5.3 and appendix F.4)"
        yield replace(row, table=table)


def _plan_rows(numbers: Sequence[Measurement]) -> Iterator[Comparison]:
    for position, printed in PREFIXES.items():
        for n in range(1, HORIZON + 1):
            title = f"next {n} actions, {POSITIONS[position]}"
            yield _plan_row(
                numbers, f"prefix.{n}", title, position, printed.get(n), "fig. 9"
            )

    for position, lengths in LENGTHS.items():
        for name, paper in lengths.items():
            title = f"length: {name}, {POSITIONS[position]}"
            yield _plan_row(
                numbers, f"length.{name}", title, position, paper, "table 6"
            )


def _plan_row(
    numbers: Sequence[Measurement],
    name: str,
    title: str,
    position: str,
    paper: float | None,
    source: str,
) -> Comparison:
    where: Labels = {"variant": "oneshot", "position": position}
    others = {}
    # Guesses of a length are not measured.
    if name.startswith("prefix"):
        for guess in GUESSES:
            guessed = name.replace("prefix", guess)
            others[guess] = find(numbers, f"plan.{guessed}", **where, control="none")
    for control in CONTROLS:
        others[control] = find(numbers, f"plan.{name}", **where, control=control)

    return Comparison(
        quantity=title,
        paper=paper,
        ours=find(numbers, f"plan.{name}", **where, control="none"),
        source=f"Arghal et al. (2026), {source}",
        others=others,
    )


TABLE_2: Sequence[tuple[str, str, float | None]] = (
    ("optimal on the true grid (Acc. GT)", "accuracy.true", None),
    ("optimal on the decoded map (Acc. Dec.)", "accuracy.decoded", None),
    ("optimal on both (Agreem.)", "agreement", 0.84),
    (
        "some action optimal on both (Agreem., rule of the released code, places of the paper)",
        "agreement.released",
        None,
    ),
    ("errors that are optimal on the decoded map (Rec.)", "recovery", None),
    (
        "errors where some action is optimal on both (Rec., rule of the released code, places of the paper)",
        "recovery.released",
        None,
    ),
    ("distance of all cells decoded as agent (Avg A)", "spread.agent", None),
    ("distance of all cells decoded as goal (Avg G)", "spread.goal", None),
)
"""Its cells are lost in the text that we have; the running text repeats one average."""
BEYOND: Sequence[tuple[str, str, float | None]] = (
    (
        "expected optimality on maps drawn from the decoded distribution",
        "expected",
        None,
    ),
    ("the same of a random action", "expected.chance", None),
)
SWEPT: Sequence[tuple[str, Sequence[int | float]]] = (
    ("size", SIZES),
    ("density", DENSITIES),
)
FIT: Labels = {"variant": "mlp", "position": "pre"}


def belief_rows(measured: ByForm) -> Iterator[Comparison]:
    """Table 2 and what its footnote asks for in the whole run, beside controls; then
    table 2 as it is printed.
    """
    for title, name, printed in (*TABLE_2, *BEYOND):
        for form, numbers in measured.items():
            controls = {}
            for control in CONTROLS:
                controls[control] = find(numbers, f"beliefs.{name}", **FIT, fit=control)
            yield Comparison(
                quantity=of_form(title, form),
                paper=as_published(printed, form),
                ours=find(numbers, f"beliefs.{name}", **FIT, fit="none"),
                source="Arghal et al. (2026), table 2 and section 5.2",
                table="Actions against decoded maps (section 5.2)",
                others=controls,
            )

    # By size and by density, as printed: the trained probe alone.
    (form, numbers), *others = measured.items()
    for label, values in SWEPT:
        for value, (title, name, _) in product(values, TABLE_2):
            where: Labels = {**FIT, "fit": "none", label: value}
            beside = {}
            for other, of_other in others:
                beside[f"{other} inputs"] = find(of_other, f"beliefs.{name}", **where)
            yield Comparison(
                quantity=f"{label} {value:g}: {title}",
                paper=None,
                ours=find(numbers, f"beliefs.{name}", **where),
                source="Arghal et al. (2026), table 2",
                table=f"Actions against decoded maps by {label} (table 2), {form} inputs",
                others=beside,
            )


CHANGES = (
    "patching goal",
    "patching agent",
    "patching wall",
    "steering goal",
    "steering agent",
    "ablation goal",
    "ablation agent",
)
BESIDE: Mapping[str, Sequence[str]] = {
    "patching": ("another grid",),
    "steering": ("random direction",),
    "ablation": ("random subspace",),
}
"""Kind of change to its controls."""
WRONG_LAYER = "its direction at the farthest layer"
"""Beside steering with a dose of 1. It is no control: a cause stays in the stream, so
it may work there too.
"""
SHIFT = "normalised shift towards the other grid's actions"
CALLED = {"ablation": "told from its control"}
"""Titles of the verdict other than "called a cause". An ablation alone shows no cause:
the subspace of one thing holds some of the others.
"""
CAUSES = "What causes the action (beyond Arghal et al. 2026)"


def cause_rows(
    measurements: Sequence[Measurement], form: InputForm
) -> Iterator[Comparison]:
    """The effect of each change at each layer and dose, beside its control and whether
    it is called a cause.
    """
    for row in _cause_rows(measurements):
        yield replace(row, table=of_form(CAUSES, form))


def _cause_rows(measurements: Sequence[Measurement]) -> Iterator[Comparison]:
    # Layers and doses are those of the run: they depend on its model and options.
    made = [one.where for one in measurements if one.where.get("change") in CHANGES]
    layers = {int(where["layer"]) for where in made}
    for change, layer in product(CHANGES, sorted(layers)):
        doses = {float(where["dose"]) for where in made if where["change"] == change}
        for dose in sorted(doses):
            yield _cause(measurements, change, layer, dose)

    # No effect of patching can be larger than that of the counterfactual prompt itself.
    for thing in ("goal", "agent", "wall"):
        change = f"prompt with another {thing}"
        yield Comparison(
            quantity=f"{change}: how far it could go",
            paper=None,
            ours=find(
                measurements,
                "causes.effect",
                change=change,
                layer=-1,
                dose=1.0,
                control="none",
            ),
            source="beyond Arghal et al. (2026)",
        )


def _cause(
    measurements: Sequence[Measurement], change: str, layer: int, dose: float
) -> Comparison:
    """The effect of one change, beside its controls and the verdict."""
    kind = change.split()[0]
    labels: Labels = {"change": change, "layer": layer, "dose": dose}
    where: Labels = {**labels, "control": "none"}

    others = {}
    for control in BESIDE[kind]:
        others[control] = find(measurements, "causes.effect", **labels, control=control)
    for one in measurements:
        # Not every change and dose has these.
        if _is_at_wrong_layer(one, labels):
            others[WRONG_LAYER] = one
    for one in measurements:
        if one.name == "causes.normalised_shift" and one.where == where:
            others[SHIFT] = one
    others["p, corrected"] = find(measurements, "causes.p", **where)
    verdict = CALLED.get(kind, "called a cause")
    others[verdict] = find(measurements, "causes.called", **where)

    at = f"layer {layer}"
    if kind == "steering":
        at += f", dose {dose:g}"
    return Comparison(
        quantity=f"{change}, {at}: more of the predicted actions",
        paper=None,
        ours=find(measurements, "causes.effect", **where),
        source="beyond Arghal et al. (2026)",
        others=others,
    )


def _is_at_wrong_layer(one: Measurement, where: Labels) -> bool:
    """Whether a measurement is the effect of this layer's direction at another
    layer.
    """
    wanted: Labels = {
        "change": f"{where['change']} at a wrong layer",
        "dose": where["dose"],
        "control": f"direction of layer {where['layer']}",
    }
    return one.name == "causes.effect" and wanted.items() <= one.where.items()


LAYERS_SIZE = 11
"""The size whose grids are probed at three layers (appendix F.1)."""
SHOWN = {
    "maps.accuracy": "cell accuracy",
    "maps.recall.goal": "recall of the goal",
    "maps.top1.goal": "goal top-1",
}
"""Measurements of each layer, with their titles."""
RECALLS = [f"maps.recall.{kind}" for kind in KINDS]
PRECISIONS = [f"maps.precision.{kind}" for kind in KINDS]
OF_CLASSES = ("maps.accuracy", *RECALLS, *PRECISIONS)
"""Measurements of each size."""
WITHOUT_LAYER = ("coordinates", "conditions", "embeddings")
"""Controls that read no layer: they are fitted once, and carry the label of the first
layer.
"""


def layer_rows(
    measurements: Sequence[Measurement], form: InputForm
) -> Iterator[Comparison]:
    """Accuracy and localisation at each layer that was read."""
    table = of_form(f"Layers, grids of size {LAYERS_SIZE} (appendix F.1)", form)
    for one in measurements:
        is_trained = one.where.get("fit") == "none"
        if is_trained and one.name in SHOWN and "density" not in one.where:
            untrained: Labels = {**one.where, "fit": "untrained"}
            yield Comparison(
                quantity=f"{SHOWN[one.name]}, layer {one.where['layer']}",
                paper=None,
                ours=one,
                source="Arghal et al. (2026), fig. 14",
                table=table,
                others={"random weights": find(measurements, one.name, **untrained)},
            )


def size_rows(
    own: Mapping[int, Sequence[Measurement]],
    general: Sequence[Measurement],
    form: InputForm,
) -> Iterator[Comparison]:
    """Accuracy, recall and precision of every class by size.

    They are of the size's own probe, beside its controls and the general probe on grids
    of that size.

    Args:
        own: size to the measurements of its own probe.
        general: measurements of the general probe, without layers.
        form: form of the inputs of all these probes.
    """
    table = of_form("Probes of one size (appendix F.2)", form)
    where: Labels = {"variant": "mlp", "position": "pre"}
    for size, measurements in own.items():
        # One of the sizes is read at three layers. The others are read at the middle
        # one.
        numbers = without_layer(at_middle_layer(measurements))
        for name in OF_CLASSES:
            others = {
                "general probe": find(general, name, **where, fit="none", size=size)
            }
            for control in CONTROLS:
                others[control] = find(numbers, name, **where, fit=control)

            title = name.removeprefix("maps.")
            yield Comparison(
                quantity=f"{title}, size {size}",
                paper=None,
                ours=find(numbers, name, **where, fit="none"),
                source="Arghal et al. (2026), fig. 15; of the general probe, fig. 6",
                table=table,
                others=others,
            )


def at_middle_layer(measurements: Sequence[Measurement]) -> list[Measurement]:
    """The measurements of the middle one of the layers, and of controls that read no
    layer.
    """
    layered = [one for one in measurements if "layer" in one.where]
    if not layered:
        return []

    layers = sorted({int(one.where["layer"]) for one in layered})
    middle = layers[len(layers) // 2]
    kept = []
    for one in layered:
        is_middle = one.where["layer"] == middle
        if is_middle or one.where.get("fit") in WITHOUT_LAYER:
            kept.append(one)
    return kept
