"""Rows of causal tests, which Arghal et al. (2026) do not have."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from gde.data.json import Labels
from gde.data.result import Measurement
from gde.parts.reproduction import Comparison
from gde_plugins.grid_studies.cogmap_study import of_form
from gde_plugins.grid_studies.config import InputForm
from gde_plugins.grid_studies.lookup import find

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
