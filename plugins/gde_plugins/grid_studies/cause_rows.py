"""Rows on causal tests, which Arghal et al. (2026) do not have."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from gde.data.json import Labels
from gde.data.result import Measurement
from gde.parts.reproduction import Comparison
from gde_plugins.grid_studies.lookup import find

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
WRONG_LAYER = "its direction at the farthest layer"
"""Beside steering with a dose of 1. It is no control: a cause stays in the stream, so it may work there too."""
SHIFT = "normalised shift towards the other grid's actions"
CALLED = {"ablation": "told from its control"}
"""Titles of the verdict other than "called a cause". An ablation alone shows no cause: the subspace of one thing holds
some of the others."""
CAUSES = "What causes the action (beyond Arghal et al. 2026)"


def cause_rows(measurements: Sequence[Measurement]) -> Iterator[Comparison]:
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
    others.update(_at_wrong_layer(measurements, where))
    others.update(_normalised_shift(measurements, where))
    others["p, corrected"] = find(measurements, "causes.p", **where, control="none")
    others[CALLED.get(kind, "called a cause")] = find(measurements, "causes.called", **where, control="none")
    at = f"layer {layer}, dose {dose:g}" if kind == "steering" else f"layer {layer}"
    return Comparison(
        quantity=f"{change}, {at}: more of the predicted actions",
        paper=None,
        ours=find(measurements, "causes.effect", **where, control="none"),
        source="beyond Arghal et al. (2026)",
        table=CAUSES,
        others=others,
    )


def _normalised_shift(measurements: Sequence[Measurement], where: Labels) -> Iterator[tuple[str, Measurement]]:
    """The normalised shift towards the counterfactual grid's actions; an ablation has none."""
    for one in measurements:
        if one.name == "causes.normalised_shift" and one.where == {**where, "control": "none"}:
            yield SHIFT, one


def _at_wrong_layer(measurements: Sequence[Measurement], where: Labels) -> Iterator[tuple[str, Measurement]]:
    """The effect of this layer's direction at another layer; not every change and dose has one."""
    labels: Labels = {
        "change": f"{where['change']} at a wrong layer",
        "dose": where["dose"],
        "control": f"direction of layer {where['layer']}",
    }
    for one in measurements:
        if one.name == "causes.effect" and {**one.where, **labels} == one.where:
            yield WRONG_LAYER, one
