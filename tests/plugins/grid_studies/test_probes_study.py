"""The representational study: its plans, and printed numbers beside the same quantity
with its controls.
"""

from dataclasses import replace
from itertools import product
from typing import Any

import altair

from gde import Choice
from gde.data.cell_map import KINDS
from gde.data.evidence import Evidence
from gde.data.result import Measurement, Result
from gde.parts.reproduction import Run
from gde_plugins.grid_studies.cogmap_study import SIZES, WHITENED, without_layer
from gde_plugins.grid_studies.config import ProbesStudyConfig, Turns
from gde_plugins.grid_studies.probe_figures import (
    PRINTED,
    PROBE,
    RANDOM,
    prefix_figure,
    size_figure,
)
from gde_plugins.grid_studies.probes_study import ProbesStudy
from gde_plugins.grid_studies.published import quantities
from gde_plugins.grid_studies.rows.causes import WRONG_LAYER
from gde_plugins.grid_studies.rows.plans import PREFIXES, distance_rows
from gde_plugins.probes.config import PlanConfig


def run(*measurements: Measurement) -> Run:
    result = Result(
        run="", status="ok", plan_hash="", measurements=measurements, failures=()
    )
    return Run(result=result, evidence=Evidence(trajectories=()))


def one(name: str, value: float, **where: str | int) -> Measurement:
    return Measurement(
        name=name,
        value=value,
        unit="share",
        n=9,
        where={"layer": 3, "position": "pre", **where},
    )


def test_there_is_a_general_plan_and_one_for_each_size() -> None:
    plans = ProbesStudy().plans(1.0, Choice(name="gpt-oss"))
    sized = [f"size-{size}" for size in SIZES]
    assert [*plans] == ["general", WHITENED, *sized, "causes"]
    assert 5 * 6 * plans["general"].episodes == 300
    assert {choice.name for choice in plans["general"].probes} == {
        "cogmap",
        "distance",
        "plan",
    }
    layers = {
        name: plan.probes[0].config["layer"]
        for name, plan in plans.items()
        if "size" in name
    }
    assert layers["size-11"] == ["early", "middle", "late"]
    assert layers["size-7"] == ["middle"]


def test_the_run_with_whitened_inputs_differs_in_its_probes_alone() -> None:
    plans = ProbesStudy().plans(1.0, Choice(name="gpt-oss"))
    general = plans["general"]
    whitened = plans[WHITENED]
    assert replace(whitened, probes=general.probes) == general
    for plan, whiten in ((general, False), (whitened, True)):
        configs = {choice.name: choice.config for choice in plan.probes}
        assert configs["cogmap"]["whiten"] == configs["distance"]["whiten"] == whiten


def test_plans_and_distances_are_of_first_turns_as_published_or_of_all() -> None:
    chosen: tuple[Turns, ...] = ("first", "all")
    assert ProbesStudyConfig().turns == "first"
    for turns in chosen:
        study = ProbesStudy(ProbesStudyConfig(turns=turns))
        plans = study.plans(1.0, Choice(name="gpt-oss"))
        for name in ("general", WHITENED):
            for probe in plans[name].probes:
                if probe.name != "cogmap":
                    assert probe.config["turns"] == turns


def test_distances_on_decoded_maps_stand_beside_those_of_all_turns_alone() -> None:
    """The metric `steps` reads the maps of all turns."""
    numbers = [
        one("distance.r2", 0.5, variant="mlp", control="none"),
        one("steps.r2", 0.3, variant="mlp", fit="none"),
    ]
    measured = without_layer(numbers)
    beside = {}
    chosen: tuple[Turns, ...] = ("first", "all")
    for turns in chosen:
        (row,) = [
            row
            for row in distance_rows({"z-scored": measured}, turns)
            if row.quantity == "R2, mlp, before reasoning, z-scored inputs"
        ]
        assert row.table == f"Distance to the goal in {turns} turns (appendix F.3)"
        assert row.ours.value == 0.5
        beside[turns] = row.others.get("decoded positions")
    assert beside["first"] is None
    assert beside["all"] is not None and beside["all"].value == 0.3


def test_numbers_stand_beside_their_controls() -> None:
    general = run(
        one("distance.r2", 0.5, variant="mlp", control="none"),
        one("distance.r2.manhattan", 0.7, variant="mlp", control="none"),
        one("distance.r2", 0.1, variant="mlp", control="untrained"),
        one("beliefs.recovery", 0.2, variant="mlp", fit="none"),
        one("beliefs.recovery.released", 0.3, variant="mlp", fit="none"),
        one("beliefs.recovery", 0.7, variant="mlp", fit="none", size=9),
        one("beliefs.spread.goal", 1.5, variant="mlp", fit="none", density=0.4),
        one("plan.prefix.1", 0.6, variant="oneshot", control="none"),
        one("plan.marginal.1", 0.4, variant="oneshot", control="none"),
        one("plan.prefix.10", 0.02, variant="oneshot", control="none", position="post"),
        one(
            "plan.prefix.10",
            0.01,
            variant="oneshot",
            control="shuffled",
            position="post",
        ),
        one("maps.accuracy", 0.4, variant="mlp", fit="none", size=7),
    )
    sized = run(
        *(
            one("maps.accuracy", 0.5 + i / 10, variant="mlp", fit="none", layer=i)
            for i in (1, 3, 5)
        ),
        one("maps.accuracy", 0.15, variant="mlp", fit="no_activations", layer=1),
        one("maps.accuracy", 0.2, variant="mlp", fit="conditions", layer=1),
        one("maps.accuracy", 0.35, variant="mlp", fit="untrained", layer=1),
        one("maps.accuracy", 0.25, variant="mlp", fit="untrained", layer=3),
        *(
            one(f"maps.{score}.{kind}", 0.45, variant="mlp", fit="none")
            for score, kind in product(("recall", "precision"), KINDS)
        ),
    )
    caused = run(
        *(
            replace(
                one(f"causes.{name}", value),
                where={"change": change, "layer": 3, "dose": dose, "control": control},
            )
            for name, change, dose, control, value in (
                ("effect", "patching goal", 1.0, "none", 0.4),
                ("effect", "patching goal", 1.0, "another grid", 0.1),
                ("called", "patching goal", 1.0, "none", 1.0),
                ("effect", "steering agent", 0.5, "none", 0.2),
                ("effect", "steering agent", 0.5, "random direction", 0.0),
                ("effect", "steering agent", 1.0, "none", 0.5),
                (
                    "effect",
                    "steering agent at a wrong layer",
                    1.0,
                    "direction of layer 3",
                    0.3,
                ),
                (
                    "effect",
                    "steering agent at a wrong layer",
                    1.0,
                    "direction of layer 1",
                    0.9,
                ),
                ("effect", "steering agent", 2.0, "none", 0.6),
            )
        )
    )
    whitened = run(
        one("distance.r2", 0.55, variant="mlp", control="none"),
        one("beliefs.recovery", 0.25, variant="mlp", fit="none"),
        one("beliefs.recovery", 0.75, variant="mlp", fit="none", size=9),
    )
    runs = {
        "general": general,
        WHITENED: whitened,
        "causes": caused,
        **{f"size-{size}": sized for size in SIZES},
    }
    rows = {
        (row.table.split(" (")[0], row.quantity): row
        for row in ProbesStudy().compare(runs)
    }
    distances = "Distance to the goal in first turns"
    distance = rows[distances, "R2, mlp, before reasoning, z-scored inputs"]
    assert (distance.paper, distance.ours.value) == (0.40, 0.5)
    beside = rows[distances, "R2, mlp, before reasoning, whitened inputs"]
    assert (beside.paper, beside.ours.value) == (None, 0.55)
    assert (distances, "R2, linear, before reasoning, whitened inputs") not in rows
    assert (distance.others["manhattan"].value, distance.others["untrained"].value) == (
        0.7,
        0.1,
    )
    recovery = [
        row.ours.value
        for (table, name), row in rows.items()
        if table == "Actions against decoded maps" and "Rec." in name
    ]
    assert recovery == [0.2, 0.25, 0.3, None]
    table_2 = quantities("beliefs")
    by_size = rows[
        "Actions against decoded maps by size", f"size 9: {table_2[4].title}"
    ]
    by_density = rows[
        "Actions against decoded maps by density", f"density 0.4: {table_2[-1].title}"
    ]
    assert (by_size.ours.value, by_density.ours.value) == (0.7, 1.5)
    assert by_size.table.endswith("z-scored inputs")
    assert by_size.others["whitened inputs"].value == 0.75
    plan = rows["Plans in first turns", "next 1 actions, before reasoning"]
    assert (plan.paper, plan.ours.value, plan.others["marginal"].value) == (
        0.4031,
        0.6,
        0.4,
    )
    longest = rows[
        "Plans in first turns", f"next {PlanConfig().horizon} actions, after reasoning"
    ]
    assert (longest.ours.value, longest.others["shuffled"].value) == (0.02, 0.01)
    layered = [
        row.ours.value
        for (table, _), row in rows.items()
        if table == "Layers, grids of size 11" and row.ours.name == "maps.accuracy"
    ]
    assert layered == [0.6, 0.8, 1.0]
    cause = rows[
        "What causes the action",
        "patching goal, layer 3: more of the predicted actions",
    ]
    assert (
        cause.ours.value,
        cause.others["another grid"].value,
        cause.others["called a cause"].value,
    ) == (0.4, 0.1, 1)
    steered = {
        dose: rows[
            "What causes the action",
            f"steering agent, layer 3, dose {dose}: more of the predicted actions",
        ]
        for dose in ("0.5", "1", "2")
    }
    assert [row.ours.value for row in steered.values()] == [0.2, 0.5, 0.6]
    assert steered["0.5"].others["random direction"].value == 0.0
    assert steered["1"].others[WRONG_LAYER].value == 0.3
    assert not any(
        WRONG_LAYER in row.others for row in (steered["0.5"], steered["2"], cause)
    )
    own = rows["Probes of one size", "accuracy, size 7"]
    assert (own.ours.value, own.others["general probe"].value) == (0.8, 0.4)
    assert {name: one.value for name, one in own.others.items()} == {
        "general probe": 0.4,
        "no_activations": 0.15,
        "prompt": None,
        "conditions": 0.2,
        "shuffled": None,
        "untrained": 0.25,
    }
    for score, kind, size in product(("recall", "precision"), KINDS, SIZES):
        assert (
            rows["Probes of one size", f"{score}.{kind}, size {size}"].ours.value
            == 0.45
        )
    assert (
        rows["Probes of one size", "accuracy, size 9"].others["general probe"].reason
        == "not in the run"
    )


def test_curves_are_of_what_was_measured_and_of_what_is_printed() -> None:
    """Other sizes, variants and controls than those shown have lines of their own or
    none.
    """
    fit = {"variant": "mlp", "layer": 3, "position": "pre"}
    numbers = [
        Measurement(name=name, value=value, unit="share", n=9, where=where)
        for name, value, where in (
            ("maps.recall.goal", 0.5, {**fit, "fit": "none", "size": 7}),
            ("maps.recall.goal", 0.1, {**fit, "fit": "untrained", "size": 7}),
            ("maps.recall.goal", 0.2, {**fit, "fit": "shuffled", "size": 7}),
            ("maps.recall.goal", 0.3, {**fit, "fit": "none", "density": 0.4}),
            ("maps.recall.goal", 0.4, {**fit, "fit": "none"}),
            (
                "maps.accuracy",
                0.6,
                {**fit, "fit": "none", "size": 7, "variant": "linear"},
            ),
            ("plan.prefix.2", 0.7, {**fit, "variant": "oneshot", "control": "none"}),
            ("plan.random.2", 0.0625, {**fit, "variant": "oneshot", "control": "none"}),
            (
                "plan.prefix.2",
                0.8,
                {**fit, "variant": "oneshot", "control": "none", "size": 7},
            ),
        )
    ]
    shown = without_layer(numbers)
    figures = [size_figure(shown, "whitened"), prefix_figure(shown)]
    assert figures[0] is not None and "whitened inputs" in figures[0].caption
    specs: list[Any] = [figure.spec for figure in figures if figure is not None]
    for spec in specs:
        altair.Chart.from_dict(spec)
    sizes, plans = (spec["data"]["values"] for spec in specs)
    assert [(row["size"], row["reader"], row["value"]) for row in sizes] == [
        (7, PROBE, 0.5),
        (7, RANDOM, 0.1),
    ]
    printed = [row["value"] for row in plans if row["reader"] == PRINTED]
    assert printed == [
        value for position in PREFIXES.values() for value in position.values()
    ]
    assert [row["value"] for row in plans if row["reader"] != PRINTED] == [0.7, 0.0625]
    assert size_figure([], "z-scored") is None
