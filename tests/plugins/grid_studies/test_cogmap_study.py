"""Printed numbers of cognitive maps stand beside the same quantity, or beside a
reason.
"""

from dataclasses import replace
from itertools import product
from typing import Literal

import numpy as np
import pytest

from gde import Choice, Plan, evaluate, load_evidence
from gde.data.cell_map import KINDS, decoded_classes
from gde.data.evidence import Evidence
from gde.data.probe import CONTROLS, Fit, ProbeReport
from gde.data.result import Measurement, Result
from gde.parts.reproduction import Run
from gde_plugins.grid_studies.cogmap_study import (
    FEW,
    LEAST,
    PRINTED,
    TRAINING,
    WHITENED,
    CogmapStudy,
    map_rows,
    without_layer,
)
from gde_plugins.grid_studies.config import CogmapStudyConfig, ProbesStudyConfig
from gde_plugins.grid_studies.probes_study import ProbesStudy
from gde_plugins.probes.config import CogmapConfig
from gde_plugins.probes.maps.first_turns import maps

OF_SIZE, SIDE = 2, 7


def run(*measurements: Measurement) -> Run:
    result = Result(
        run="", status="ok", plan_hash="", measurements=measurements, failures=()
    )
    return Run(result=result, evidence=Evidence(trajectories=()))


def numbers(worlds: int) -> list[Measurement]:
    def one(name: str, value: float, **where: str | int) -> Measurement:
        fit = {"variant": "mlp", "layer": 3, "position": "pre", "fit": "none"}
        return Measurement(
            name=name, value=value, unit="share", n=9, where={**fit, **where}
        )

    return [
        one("maps.worlds", worlds),
        one("maps.accuracy", 0.5),
        one("maps.accuracy", 0.6, size=7),
        one("maps.accuracy", 0.4, size=15),
        one("maps.accuracy", 0.3, fit="untrained"),
        one("maps.accuracy", 0.9, variant="bilinear"),
        one("maps.accuracy.majority", 0.7),
        one("maps.recall.goal", 0.2, size=7),
        one("maps.recall.goal", 0.1, size=15),
        one("maps.recall.goal", 0.0, size=7, variant="linear"),
        one("maps.recall.goal", 0.9, size=9, position="post"),
        one("maps.recall.goal", 0.8, size=7, fit="untrained"),
        one("maps.recall.goal", 0.05, size=15, fit="untrained"),
        one("maps.recall.goal", 0.5, fit="untrained"),
    ]


def test_the_same_quantity_stands_beside_its_controls() -> None:
    measured = without_layer(numbers(FEW))
    rows = {}
    for row in map_rows({"z-scored": measured}):
        rows[row.quantity.removesuffix(", z-scored inputs")] = row
    main = rows["cell accuracy, MLP, before reasoning"]
    assert (main.paper, main.ours.value) == (0.75, 0.5)
    assert (main.others["untrained"].value, main.others["commonest class"].value) == (
        0.3,
        0.7,
    )
    assert main.others["shuffled"].reason == "not in the run"
    assert rows["cell accuracy, MLP, best size"].ours.value == 0.6
    worst, best = (
        rows[f"recall of the goal, {which} size"] for which in ("worst", "best")
    )
    assert (worst.ours.value, worst.others["untrained"].value) == (0.1, 0.05)
    assert (best.ours.value, best.others["untrained"].value) == (0.2, 0.8)
    assert worst.source.endswith("ours of size 15")
    linear, bilinear = (
        rows[f"cell accuracy, {form}, before reasoning"]
        for form in ("linear", "bilinear")
    )
    assert linear.ours.value is None and "cannot find places" in linear.source
    assert (bilinear.paper, bilinear.ours.value) == (None, 0.9)
    assert len(rows) == len(PRINTED) + 1


AGENT = Choice(name="gpt-oss")


def map_configs(study: CogmapStudy | ProbesStudy) -> dict[str, CogmapConfig]:
    """Name of each plan to the configuration of its probe of maps."""
    found = {}
    for name, plan in study.plans(0.2, AGENT).items():
        (choice,) = [one for one in plan.probes if one.name == "cogmap"]
        found[name] = CogmapConfig(**choice.config)
    return found


@pytest.mark.parametrize("study", [CogmapStudy(), ProbesStudy()])
def test_every_printed_probe_is_fitted(study: CogmapStudy | ProbesStudy) -> None:
    fitted = next(iter(map_configs(study).values()))
    assert {(printed.variant, printed.position) for printed in PRINTED} <= {
        *product(fitted.variants, fitted.positions)
    }


@pytest.mark.parametrize("study", [CogmapStudy(), ProbesStudy()])
def test_maps_are_fitted_to_all_turns_as_published(
    study: CogmapStudy | ProbesStudy,
) -> None:
    assert {config.turns for config in map_configs(study).values()} == {"all"}


@pytest.mark.parametrize("study", [CogmapStudy(), ProbesStudy()])
def test_inputs_are_z_scored_as_published_in_all_runs_but_one(
    study: CogmapStudy | ProbesStudy,
) -> None:
    configs = map_configs(study)
    whitened = [name for name, config in configs.items() if config.whiten]
    assert whitened == [WHITENED]
    main = next(iter(configs.values()))
    # The two differ in nothing else than the inputs and the training that they need.
    assert configs[WHITENED] == replace(main, **TRAINING["whitened"])
    assert main.epochs > configs[WHITENED].epochs


@pytest.mark.parametrize("inputs", ["z-scored", "whitened"])
def test_one_form_of_the_inputs_can_be_chosen(
    inputs: Literal["z-scored", "whitened"],
) -> None:
    for study in (
        CogmapStudy(CogmapStudyConfig(inputs=inputs)),
        ProbesStudy(ProbesStudyConfig(inputs=inputs)),
    ):
        configs = map_configs(study)
        assert WHITENED not in configs
        assert {config.whiten for config in configs.values()} == {inputs == "whitened"}


def test_both_forms_of_the_inputs_stand_in_one_table() -> None:
    """Each row names its form. Only z-scored inputs are compared with the
    publication.
    """
    z_scored = run(*numbers(FEW))
    whitened = run(*[replace(one, value=0.25) for one in numbers(FEW)])
    rows = CogmapStudy().compare({"cogmap": z_scored, WHITENED: whitened})
    assert len({row.table for row in rows}) == 1

    pairs = zip(rows[:-1:2], rows[1::2], strict=True)
    for (first, second), printed in zip(pairs, PRINTED, strict=True):
        assert first.quantity == f"{printed.quantity}, z-scored inputs"
        assert second.quantity == f"{printed.quantity}, whitened inputs"
        assert (first.paper, second.paper) == (printed.value, None)
    assert (rows[0].ours.value, rows[1].ours.value) == (0.5, 0.25)
    assert rows[1].others["untrained"].value == 0.25


def test_few_worlds_are_warned_of_and_fewer_not_compared() -> None:
    measured = without_layer(numbers(FEW - 1))
    (few,) = {row.table for row in map_rows({"z-scored": measured})}
    assert few.endswith(f"only {FEW - 1} worlds trained on")
    rows = [*map_rows({"z-scored": without_layer(numbers(LEAST - 1))})]
    assert "too few to compare" in rows[0].table
    assert all(row.ours.value is None and not row.others for row in rows[:-1])
    assert "give a larger scale" in rows[0].ours.reason


@pytest.fixture(scope="module")
def decoded(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """Grids of two sizes, of which every fit that is printed and each of its controls
    decodes maps at random.
    """
    plan = Plan(
        environment=Choice(name="grid", config={"size": [5, SIDE], "density": 0.6}),
        agent=Choice(name="optimal"),
        metrics=(Choice(name="success"),),
        episodes=LEAST // 2 + OF_SIZE,
    )
    folder = tmp_path_factory.mktemp("decoded") / "run"
    evaluate(plan, folder)
    evidence = load_evidence(folder)
    held_out = (*evidence.trajectories[:OF_SIZE], *evidence.trajectories[-OF_SIZE:])
    rows = tuple((str(one.key), 0) for one in held_out)
    rng, classes = np.random.default_rng(0), decoded_classes(KINDS)
    fits = {(printed.variant, printed.position) for printed in PRINTED}
    reports = tuple(
        ProbeReport(
            fit=Fit(
                probe="cogmap",
                variant=variant,
                layer=3,
                position=position,
                control=control,
            ),
            measurements=(),
            n_train=1,
            n_test=len(rows),
            rows=rows,
            decoded=rng.random((len(rows), SIDE, SIDE, len(classes)), dtype=np.float32),
            classes=classes,
        )
        for (variant, position), control in product(sorted(fits), ("none", *CONTROLS))
    )
    return replace(evidence, probe_reports=reports)


def test_every_printed_row_has_the_controls_of_its_size_beside_it(
    decoded: Evidence,
) -> None:
    measured = without_layer(maps(decoded))
    *rows, last = map_rows({"z-scored": measured})
    assert last.quantity == "worlds trained on"
    assert [row.quantity for row in rows] == [
        f"{printed.quantity}, z-scored inputs" for printed in PRINTED
    ]
    for row, printed in zip(rows, PRINTED, strict=True):
        assert row.ours.value is not None, row.quantity
        assert {*CONTROLS} <= row.others.keys(), row.quantity
        assert (row.ours.where["variant"], row.ours.where["position"]) == (
            printed.variant,
            printed.position,
        )
        for name, beside in row.others.items():
            assert beside.value is not None, (row.quantity, name)
            assert {**beside.where, "fit": "none"} == row.ours.where, (
                row.quantity,
                name,
            )
