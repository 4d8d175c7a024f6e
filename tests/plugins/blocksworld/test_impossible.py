"""A run in which some worlds are proved to be impossible."""

import json
from pathlib import Path

from test_pddl import PROBLEM, folder

from gde.data.plan import Choice, Plan
from gde.reporting.finding import opening
from gde.runs.evaluating import evaluate
from gde.runs.plain import read_trajectory, trajectory_json
from gde.stages.evidence import load_evidence


def test_impossible_worlds_are_a_result_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "problems").mkdir()
    problems = folder(
        tmp_path / "problems",
        good=PROBLEM,
        other=PROBLEM.replace("(on a b)", "(on c b)"),
        circle=PROBLEM.replace("(on a b)", "(on a b) (on b a)"),
    )
    world = Choice(name="blocksworld", config={"problems": str(problems)})
    plan = Plan(environment=world, agent=Choice(name="optimal"), episodes=9)
    result = evaluate(plan, tmp_path / "run")

    found = {one.name: one for one in result.measurements if not one.where}
    assert (result.subject.worlds, result.subject.impossible) == (3, 1)
    assert "1 of 3 worlds cannot be solved." in opening(result).notes
    assert found["success"].value == 2 / 3
    assert (found["success.solvable"].value, found["success.solvable"].n) == (1, 2)
    assert (found["accuracy"].value, found["accuracy"].n) == (1, 2)
    assert "success.lost" not in found

    episodes = load_evidence(tmp_path / "run").trajectories
    by_name = {one.world.facts["name"]: one for one in episodes}
    circle = by_name["circle"]
    assert circle.impossible and not circle.lost
    assert all(turn.out_of_reach for turn in circle.turns)
    # JSON has no infinite numbers.
    plain = json.loads(json.dumps(trajectory_json(circle), allow_nan=False))
    assert read_trajectory(plain) == circle
