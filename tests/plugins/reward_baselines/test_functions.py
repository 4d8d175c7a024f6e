"""Reward models as functions: shaping is no distance from the world's own reward."""

from collections.abc import Callable

import numpy as np
import pytest

from gde import Plan, evaluate, load_evidence
from gde.data.evidence import Evidence
from gde.data.reward import RewardTrace
from gde.data.trajectory import Trajectory
from gde.testing import check_metric
from gde.testing.context import PlainContext
from gde_plugins.reward_baselines.canonical import (
    Setting,
    dard_distance,
    epic_distance,
)
from gde_plugins.reward_baselines.config import FunctionsConfig
from gde_plugins.reward_baselines.functions import Functions

Reward = Callable[[int, str, int], float]


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """Two small grids with one judged episode each."""
    plan = Plan(
        environment="grid",
        agent="random",
        rewards=("clock", "oracle"),
        metrics=("epic",),
        episodes=2,
    )
    run = tmp_path_factory.mktemp("grid") / "run"
    evaluate(plan, run)
    return load_evidence(run)


class Known:
    """Implements `RewardSource` by a function of state, action and next state."""

    def __init__(self, reward: Reward, failure: str = "") -> None:
        self._reward = reward
        self._failure = failure

    async def rewards(self, trajectory: Trajectory) -> RewardTrace:
        *_, before, after = trajectory.turns
        assert [one.index for one in trajectory.turns] == [
            *range(len(trajectory.turns))
        ]
        assert before.state is not None and after.state is not None
        assert before.state.index is not None and after.state.index is not None
        assert before.decision.action is not None
        value = self._reward(
            before.state.index, before.decision.action, after.state.index
        )
        values = np.array([*[0.0] * (len(trajectory.turns) - 1), value])
        return RewardTrace(model="m", episode="e", values=values, failure=self._failure)


class Asked(PlainContext):
    """A context whose reward model is given."""

    def __init__(self, source: Known) -> None:
        super().__init__()
        self._source = source

    def reward_model(self, name: str) -> Known:
        assert name == "clock", "one that reads the truth is left out"
        return self._source


def distances(
    evidence: Evidence, source: Known, most: int = 50
) -> dict[str, float | None]:
    found = Functions(FunctionsConfig(states=most), Asked(source))(evidence)
    assert all(one.n == 2 or one.reason for one in found)
    return {one.name: one.value for one in found}


def potential(state: int) -> float:
    return float(np.random.default_rng(state).normal())


def test_shaping_is_no_distance_and_the_opposite_the_greatest(
    evidence: Evidence,
) -> None:
    assert evidence.mdp is not None
    (mdp, _) = [evidence.mdp(one) for one in evidence.trajectories]

    def true(state: int, action: str, after: int) -> float:
        return float(mdp.reward[state])

    def shaped(state: int, action: str, after: int) -> float:
        change = mdp.discount * potential(after) - potential(state)
        return 3 * true(state, action, after) + change + 2

    # One world, since the goal of the other is elsewhere.
    first = Evidence(
        trajectories=evidence.trajectories[:1],
        reward_traces=evidence.reward_traces,
        mdp=evidence.mdp,
        begin=evidence.begin,
    )

    def of(reward: Reward) -> list[float | None]:
        found = Functions(FunctionsConfig(), Asked(Known(reward)))(first)
        return [one.value for one in found]

    assert of(true) == [0, 0]
    assert of(shaped) == [pytest.approx(0, abs=1e-6)] * 2
    assert of(lambda *step: -shaped(*step)) == [pytest.approx(1)] * 2
    assert of(lambda *_: 1.0) == [pytest.approx(0.5**0.5)] * 2


def test_they_are_the_distances_of_the_whole_functions(evidence: Evidence) -> None:
    def noise(state: int, action: str, after: int) -> float:
        seed = [state, after, *action.encode()]
        return float(np.random.default_rng(seed).normal())

    found = distances(evidence, Known(noise))
    expected = []
    assert evidence.mdp is not None
    for one in evidence.trajectories:
        mdp = evidence.mdp(one)
        setting = Setting.uniform(mdp)
        S = mdp.n_states
        given = np.array(
            [
                [[noise(s, action, t) for t in range(S)] for action in mdp.actions]
                for s in range(S)
            ]
        )
        pair = (given, mdp.reward, setting)
        expected.append([epic_distance(*pair), dard_distance(*pair)])
    epic, dard = np.mean(expected, axis=0)
    assert found["functions.epic"] == pytest.approx(epic)
    assert found["functions.dard"] == pytest.approx(dard)
    assert epic != pytest.approx(dard)


def test_what_cannot_be_compared_says_why(evidence: Evidence) -> None:
    def refused(source: Known, most: int) -> str:
        found = Functions(FunctionsConfig(states=most), Asked(source))(evidence)
        assert [one.value for one in found] == [None, None]
        return found[0].reason

    assert "more than 5 states" in refused(Known(lambda *_: 0.0), 5)
    assert "unread" in refused(Known(lambda *_: 0.0, failure="unread"), 50)


def test_it_keeps_the_contract_of_metrics() -> None:
    check_metric(lambda: Functions(FunctionsConfig(), PlainContext()))
