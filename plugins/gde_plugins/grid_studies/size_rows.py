"""Rows on probes of one size (Arghal et al. 2026, appendices F.1 and F.2), printed as figures only."""

from collections.abc import Iterator, Mapping, Sequence

from gde.data.cell_map import KINDS
from gde.data.json import Labels
from gde.data.result import Measurement
from gde.parts.reproduction import Comparison
from gde_plugins.grid_studies.cogmap_study import CONTROLS, without_layer
from gde_plugins.grid_studies.lookup import find

LAYERS_SIZE = 11
"""The size whose grids are probed at three layers (appendix F.1)."""
SHOWN = {"maps.accuracy": "cell accuracy", "maps.recall.goal": "recall of the goal", "maps.top1.goal": "goal top-1"}
"""Measurements of each layer, with their titles."""
OF_CLASSES = (
    "maps.accuracy",
    *(f"maps.recall.{kind}" for kind in KINDS),
    *(f"maps.precision.{kind}" for kind in KINDS),
)
"""Measurements of each size."""
WITHOUT_LAYER = ("coordinates", "embeddings")
"""Controls that read no layer: they are fitted once, and carry the label of the first layer."""


def layer_rows(measurements: Sequence[Measurement]) -> Iterator[Comparison]:
    """Accuracy and localisation at each layer that was read."""
    for one in measurements:
        if one.name in SHOWN and one.where.get("fit") == "none" and "density" not in one.where:
            yield Comparison(
                quantity=f"{SHOWN[one.name]}, layer {one.where['layer']}",
                paper=None,
                ours=one,
                source="Arghal et al. (2026), fig. 14",
                table=f"Layers, grids of size {LAYERS_SIZE} (appendix F.1)",
                others={"random weights": find(measurements, one.name, **{**one.where, "fit": "untrained"})},
            )


def size_rows(own: Mapping[int, Sequence[Measurement]], general: Sequence[Measurement]) -> Iterator[Comparison]:
    """Accuracy, recall and precision of every class by size.

    They are of the size's own probe, beside its controls and the general probe on grids of that size.

    Args:
        own: size to the measurements of its own probe.
        general: measurements of the general probe, without layers.
    """
    where: Labels = {"variant": "mlp", "position": "pre"}
    for size, measurements in own.items():
        numbers = without_layer(at_middle_layer(measurements))
        for name in OF_CLASSES:
            controls = {control: find(numbers, name, **where, fit=control) for control in CONTROLS}
            yield Comparison(
                quantity=f"{name.removeprefix('maps.')}, size {size}",
                paper=None,
                ours=find(numbers, name, **where, fit="none"),
                source="Arghal et al. (2026), fig. 15; of the general probe, fig. 6",
                table="Probes of one size (appendix F.2)",
                others={"general probe": find(general, name, **where, fit="none", size=size), **controls},
            )


def at_middle_layer(measurements: Sequence[Measurement]) -> list[Measurement]:
    """The measurements of the middle one of the layers, and of controls that read no layer."""
    layered = [one for one in measurements if "layer" in one.where]
    layers = sorted({int(one.where["layer"]) for one in layered})
    kept = []
    for one in layered:
        is_middle = one.where["layer"] == layers[len(layers) // 2]
        if is_middle or one.where.get("fit") in WITHOUT_LAYER:
            kept.append(one)
    return kept
