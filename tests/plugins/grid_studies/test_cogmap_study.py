"""Printed numbers of cognitive maps stand beside the same quantity, or beside a reason."""

from itertools import product

import pytest

from gde.data.plan import Choice
from gde.data.result import Measurement
from gde_plugins.grid_studies.cogmap_study import FEW, LEAST, PRINTED, CogmapStudy, map_rows
from gde_plugins.grid_studies.probes_study import ProbesStudy
from gde_plugins.probes.config import CogmapConfig


def numbers(worlds: int) -> list[Measurement]:
    def one(name: str, value: float, **where: str | int) -> Measurement:
        arm = {"variant": "mlp", "layer": 3, "mark": "pre", "fit": "none"}
        return Measurement(name=name, value=value, unit="share", n=9, where={**arm, **where})

    return [
        one("maps.worlds", worlds),
        one("maps.accuracy", 0.5),
        one("maps.accuracy", 0.6, size=7),
        one("maps.accuracy", 0.4, size=15),
        one("maps.accuracy", 0.3, fit="untrained"),
        one("maps.accuracy.majority", 0.7),
        one("maps.recall.goal", 0.2, size=7),
        one("maps.recall.goal", 0.1, size=15),
    ]


def test_the_same_quantity_stands_beside_its_controls() -> None:
    rows = {row.quantity: row for row in map_rows(numbers(FEW))}
    main = rows["cell accuracy, MLP, before reasoning"]
    assert (main.paper, main.ours.value) == (0.75, 0.5)
    assert (main.others["untrained"].value, main.others["commonest class"].value) == (0.3, 0.7)
    assert main.others["shuffled"].reason == "not in the run"
    assert rows["cell accuracy, MLP, best size"].ours.value == 0.6
    assert rows["recall of the goal, worst size"].ours.value == 0.1
    assert rows["cell accuracy, linear, before reasoning"].ours.value is None
    assert len(rows) == len(PRINTED) + 1


@pytest.mark.parametrize("study", [CogmapStudy(), ProbesStudy()])
def test_every_printed_probe_is_fitted(study: CogmapStudy | ProbesStudy) -> None:
    general = next(iter(study.plans(0.2, Choice(name="gpt-oss")).values()))
    fitted = CogmapConfig(**general.probes[0].config)
    assert {(printed.variant, printed.mark) for printed in PRINTED} <= {*product(fitted.variants, fitted.marks)}


def test_few_worlds_are_warned_of_and_fewer_not_compared() -> None:
    (few,) = {row.table for row in map_rows(numbers(FEW - 1))}
    assert few.endswith(f"only {FEW - 1} worlds trained on")
    rows = [*map_rows(numbers(LEAST - 1))]
    assert "too few to compare" in rows[0].table
    assert all(row.ours.value is None and not row.others for row in rows[:-1])
    assert "give a larger --scale" in rows[0].ours.reason
