"""Rows of actions against decoded maps (Arghal et al. 2026, section 5.2)."""

from collections.abc import Iterator, Sequence
from itertools import product

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
)
from gde_plugins.grid_studies.lookup import find
from gde_plugins.grid_studies.published import quantities

SWEPT: Sequence[tuple[str, Sequence[int | float]]] = (
    ("size", SIZES),
    ("density", DENSITIES),
)
FIT: Labels = {"variant": "mlp", "position": "pre"}


def belief_rows(measured: ByForm) -> Iterator[Comparison]:
    """Table 2 and what its footnote asks for in the whole run, beside controls; then
    table 2 as it is printed.
    """
    table_2 = quantities("beliefs")
    for one in (*table_2, *quantities("beliefs-beyond")):
        for form, numbers in measured.items():
            controls: dict[str, Measurement] = {}
            for control in CONTROLS:
                controls[control] = find(
                    numbers, f"beliefs.{one.name}", **FIT, fit=control
                )
            yield Comparison(
                quantity=of_form(one.title, form),
                paper=as_published(one.paper, form),
                ours=find(numbers, f"beliefs.{one.name}", **FIT, fit="none"),
                source=one.source,
                table="Actions against decoded maps (section 5.2)",
                others=controls,
            )

    # By size and by density, as printed: the trained probe alone.
    (form, numbers), *others = measured.items()
    for label, values in SWEPT:
        for value, one in product(values, table_2):
            where: Labels = {**FIT, "fit": "none", label: value}
            beside = {}
            for other, of_other in others:
                beside[f"{other} inputs"] = find(
                    of_other, f"beliefs.{one.name}", **where
                )
            yield Comparison(
                quantity=f"{label} {value:g}: {one.title}",
                paper=None,
                ours=find(numbers, f"beliefs.{one.name}", **where),
                source="Arghal et al. (2026), table 2",
                table=f"Actions against decoded maps by {label} (table 2), {form} inputs",
                others=beside,
            )
