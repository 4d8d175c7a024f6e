"""The representational study: its plans, and printed numbers beside the same quantity with its controls."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import altair
import numpy as np

from gde import Choice, Plan, evaluate, load_evidence
from gde.data.cell_map import KINDS, CellMap, decoded_classes
from gde.data.evidence import Evidence
from gde.data.probe import Arm, ProbeReport
from gde.data.result import Measurement, Result
from gde.parts.reproduction import Run
from gde_plugins.grid_studies.cogmap_study import SIZES
from gde_plugins.grid_studies.map_figures import DECODED, TRUE, map_figure
from gde_plugins.grid_studies.probes_study import ProbesStudy


def run(*measurements: Measurement) -> Run:
    result = Result(run="", status="ok", plan_hash="", measurements=measurements, failures=())
    return Run(result=result, evidence=Evidence(trajectories=()))


def one(name: str, value: float, **where: str | int) -> Measurement:
    return Measurement(name=name, value=value, unit="share", n=9, where={"layer": 3, "mark": "pre", **where})


def test_there_is_a_general_plan_and_one_for_each_size() -> None:
    plans = ProbesStudy().plans(1.0, Choice(name="gpt-oss"))
    assert [*plans] == ["general", *(f"size-{size}" for size in SIZES), "causes"]
    assert 5 * 6 * plans["general"].episodes == 300
    assert {choice.name for choice in plans["general"].probes} == {"cogmap", "distance", "plan"}
    layers = {name: plan.probes[0].config["layer"] for name, plan in plans.items() if "size" in name}
    assert layers["size-11"] == ["early", "middle", "late"]
    assert layers["size-7"] == ["middle"]


def test_numbers_stand_beside_their_controls() -> None:
    general = run(
        one("distance.r2", 0.5, variant="mlp", control="none"),
        one("distance.r2.manhattan", 0.7, variant="mlp", control="none"),
        one("distance.r2", 0.1, variant="mlp", control="untrained"),
        one("beliefs.recovery", 0.2, variant="mlp", fit="none"),
        one("beliefs.recovery.released", 0.3, variant="mlp", fit="none"),
        one("plan.prefix.1", 0.6, variant="oneshot", control="none"),
        one("plan.marginal.1", 0.4, variant="oneshot", control="none"),
        one("maps.accuracy", 0.4, variant="mlp", fit="none", size=7),
    )
    sized = run(*(one("maps.accuracy", 0.5 + i / 10, variant="mlp", fit="none", layer=i) for i in (1, 3, 5)))
    caused = run(
        *(
            replace(
                one(f"causes.{name}", value), where={"change": change, "layer": 3, "dose": dose, "control": control}
            )
            for name, change, dose, control, value in (
                ("effect", "patching goal", 1.0, "none", 0.4),
                ("effect", "patching goal", 1.0, "another grid", 0.1),
                ("called", "patching goal", 1.0, "none", 1.0),
                ("effect", "steering agent", 0.5, "none", 0.2),
                ("effect", "steering agent", 0.5, "random direction", 0.0),
                ("effect", "steering agent", 2.0, "none", 0.6),
            )
        )
    )
    runs = {"general": general, "causes": caused, **{f"size-{size}": sized for size in SIZES}}
    rows = {(row.table.split(" (")[0], row.quantity): row for row in ProbesStudy().compare(runs)}
    distance = rows["Distance to the goal", "R2, mlp, before reasoning"]
    assert (distance.paper, distance.ours.value) == (0.40, 0.5)
    assert (distance.others["manhattan"].value, distance.others["untrained"].value) == (0.7, 0.1)
    recovery = [row.ours.value for (table, name), row in rows.items() if table.startswith("Actions") and "Rec." in name]
    assert recovery == [0.2, 0.3]
    plan = rows["Plans", "next 1 actions, before reasoning"]
    assert (plan.paper, plan.ours.value, plan.others["marginal"].value) == (0.4031, 0.6, 0.4)
    layered = [row.ours.value for (table, _), row in rows.items() if table == "Layers, grids of size 11"]
    assert layered == [0.6, 0.8, 1.0]
    cause = rows["What causes the action", "patching goal, layer 3: more of the predicted actions"]
    assert (cause.ours.value, cause.others["another grid"].value, cause.others["called a cause"].value) == (0.4, 0.1, 1)
    steered = {
        dose: rows["What causes the action", f"steering agent, layer 3, dose {dose}: more of the predicted actions"]
        for dose in ("0.5", "2")
    }
    assert [row.ours.value for row in steered.values()] == [0.2, 0.6]
    assert steered["0.5"].others["random direction"].value == 0.0
    own = rows["Probes of one size", "accuracy, size 7"]
    assert (own.ours.value, own.others["general probe"].value) == (0.8, 0.4)
    assert rows["Probes of one size", "accuracy, size 9"].others["general probe"].reason == "not in the run"


def test_a_decoded_map_of_each_size_is_drawn_beside_the_true_one(tmp_path: Path) -> None:
    plan = Plan(
        environment=Choice(name="grid", config={"size": [5, 7], "density": 0.5}),
        agent=Choice(name="optimal"),
        metrics=(Choice(name="success"),),
        episodes=2,
        reporters=(),
    )
    evaluate(plan, tmp_path / "run")
    evidence = load_evidence(tmp_path / "run")
    assert map_figure(evidence, "cogmap", "mlp", "pre") is None
    arm = Arm(probe="cogmap", variant="mlp", layer=3, mark="pre")
    classes = decoded_classes(KINDS)
    states = [(one.world, one.turns[0].state) for one in evidence.trajectories]
    cells = np.array([CellMap.from_record(world, state).padded(9) for world, state in states if state])
    decoded = np.eye(len(classes), dtype=np.float32)[cells]
    rows = tuple((str(one.key), 0) for one in evidence.trajectories)
    report = ProbeReport(arm=arm, measurements=(), n_train=1, n_test=4, rows=rows, decoded=decoded, classes=classes)
    figure = map_figure(replace(evidence, probe_reports=(report,)), "cogmap", "mlp", "pre")
    assert figure is not None
    spec: Any = figure.spec
    data = spec["data"]["values"]
    assert len(data) == 2 * (25 + 49)
    true, found = (
        [{key: cell[key] for key in ("grid", "row", "column", "kind")} for cell in data if cell["which"] == which]
        for which in (TRUE, DECODED)
    )
    assert true == found
    altair.Chart.from_dict(spec)
