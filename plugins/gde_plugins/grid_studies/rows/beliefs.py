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
            controls: dict[str, Measurement] = {}
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
