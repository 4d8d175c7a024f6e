"""The representational study: its plans, and printed numbers beside the same quantity with its controls."""

from gde import Choice
from gde.data.evidence import Evidence
from gde.data.result import Measurement, Result
from gde.parts.reproduction import Run
from gde_plugins.grid_studies.cogmap_study import SIZES
from gde_plugins.grid_studies.probes_study import ProbesStudy


def run(*measurements: Measurement) -> Run:
    result = Result(run="", status="ok", plan_hash="", measurements=measurements, failures=())
    return Run(result=result, evidence=Evidence(trajectories=()))


def one(name: str, value: float, **where: str | int) -> Measurement:
    return Measurement(name=name, value=value, unit="share", n=9, where={"layer": 3, "mark": "pre", **where})


def test_there_is_a_general_plan_and_one_for_each_size() -> None:
    plans = ProbesStudy().plans(1.0, Choice(name="gpt-oss"))
    assert [*plans] == ["general", *(f"size-{size}" for size in SIZES)]
    assert 5 * 6 * plans["general"].episodes == 300
    assert {choice.name for choice in plans["general"].probes} == {"cogmap", "distance", "plan"}
    layers = {name: plan.probes[0].config["layer"] for name, plan in plans.items() if name != "general"}
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
    runs = {"general": general, **{f"size-{size}": sized for size in SIZES}}
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
    own = rows["Probes of one size", "accuracy, size 7"]
    assert (own.ours.value, own.others["general probe"].value) == (0.8, 0.4)
    assert rows["Probes of one size", "accuracy, size 9"].others["general probe"].reason == "not in the run"
