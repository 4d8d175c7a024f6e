"""Rows of decoded maps by layer and size (Arghal et al. 2026, appendix F)."""

from collections.abc import Iterator, Mapping, Sequence

from gde.data.cell_map import KINDS
from gde.data.json import Labels
from gde.data.probe import CONTROLS
from gde.data.result import Measurement
from gde.parts.reproduction import Comparison
from gde_plugins.grid_studies.cogmap_study import of_form, without_layer
from gde_plugins.grid_studies.config import InputForm
from gde_plugins.grid_studies.lookup import find

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
WITHOUT_LAYER = ("no_activations", "prompt", "conditions")
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
