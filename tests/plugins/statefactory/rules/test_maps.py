"""The agent of a map is to be where its goal is."""

from pathlib import Path

import numpy as np

from gde import Choice, Plan, Transcript, evaluate, load_evidence
from gde_plugins.statefactory.embedding import HashedWords
from gde_plugins.statefactory.routing import Vectors, fulfilment
from gde_plugins.statefactory.rules.worlds import MAPS


def test_rewards_on_a_grid_fall_with_the_distance_from_the_goal(tmp_path: Path) -> None:
    plan = Plan(
        environment=Choice(name="grid", config={"size": 7, "density": 0}),
        agent=Choice(name="random"),
        rewards=("statefactory",),  # type: ignore[arg-type]
        metrics=("epic",),  # type: ignore[arg-type]
        episodes=8,
    )
    result = evaluate(plan, tmp_path / "run")
    assert result.status == "ok"
    evidence = load_evidence(tmp_path / "run")
    traces = {one.episode: one for one in evidence.reward_traces}
    assert {one.made_by for one in traces.values()} == {
        "rules for maps, level 4; embedder words"
    }
    distances, values = [], []
    for one in evidence.trajectories:
        goal = np.array(one.world.facts["goal"])
        for turn in one.turns:
            assert turn.state is not None
            distances.append(np.abs(goal - turn.state.facts["agent"]).sum())  # type: ignore[operator]
        values += traces[str(one.key)].values.tolist()
    assert np.corrcoef(distances, values)[0, 1] < -0.8


def test_the_goal_itself_is_worth_one_and_other_worlds_are_left_alone(
    tmp_path: Path,
) -> None:
    plan = Plan(
        environment=Choice(name="grid"),
        agent=Choice(name="random"),
        episodes=1,
        metrics=("success",),
    )  # type: ignore[arg-type]
    evaluate(plan, tmp_path / "run")
    (trajectory,) = load_evidence(tmp_path / "run").trajectories
    told = MAPS.read(Transcript.of(trajectory), "")
    assert told is not None
    goal = told.goals[0]
    texts = [text for item in goal for text in item.texts()]
    assert fulfilment(goal, goal, Vectors(texts, HashedWords())) == 1
