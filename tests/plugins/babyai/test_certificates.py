"""Certified bounds hold the exact optimum, whatever the budget."""

from dataclasses import replace

import pytest

from gde.data.evidence import Evidence
from gde.data.observation import Observation, State, World
from gde.data.trajectory import Decision, EpisodeKey, Trajectory, Turn
from gde.seeding import generator
from gde_plugins.babyai.measures import BOUNDS
from gde_plugins.babyai.oracle.bounds import Bound
from gde_plugins.babyai.oracle.certificate import Certificates
from gde_plugins.babyai.oracle.search import shortest
from gde_plugins.babyai.scoring.bounds import NO_SEARCH, bounds
from gde_plugins.babyai.worlds.generation import make_scene
from gde_plugins.babyai.worlds.scene import ACTIONS
from gde_plugins.babyai.worlds.simulation import Simulation

ENOUGH = 20_000


def exact(now: Simulation) -> int:
    if now.over:
        return 0
    actions = shortest(now, Bound(now), ENOUGH).actions
    assert actions is not None
    return len(actions)


@pytest.mark.parametrize(
    ("level", "seed"),
    [
        ("PutNextLocalS5N3", 1),
        ("UnblockPickup", 3),
        ("SynthS5R2", 5),
        ("GoToSeqS5R2", 2),
    ],
)
@pytest.mark.parametrize("budget", [1, 400])
def test_bounds_hold_the_exact_optimum(level: str, seed: int, budget: int) -> None:
    """Also where the agent strays at random."""
    now = Simulation(make_scene(level, seed, "3.0"))
    rng = generator(0, level)
    certificates = Certificates(budget)
    n_exact = 0
    for _ in range(3):
        found = certificates.bounds(now)
        assert found is not None
        left = exact(now)
        assert found.left[0] <= left <= found.left[1]
        n_exact += not found.undecided
        for action in ACTIONS:
            after = now.copy()
            after.act(action)
            is_optimal = (after.succeeded or not after.over) and exact(
                after
            ) == left - 1
            if is_optimal:
                assert action in (*found.optimal, *found.undecided)
            else:
                assert action not in found.optimal
        now.act(ACTIONS[rng.integers(len(ACTIONS))])
        if now.over:
            break
    assert n_exact or budget < 400


def test_a_larger_budget_certifies_more() -> None:
    widths = []
    for budget in (1, 20, 2000):
        now = Simulation(make_scene("BossLevel", 1, "3.0"))
        found = Certificates(budget).bounds(now)
        assert found is not None
        widths.append(found.left[1] - found.left[0])
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > widths[-1] == 0


def turn(index: int, action: str, optimal: tuple[str, ...], undecided: tuple[str, ...],
         least: int, most: int | None) -> Turn:  # fmt: skip
    fact = {
        "optimal": list(optimal),
        "undecided": list(undecided),
        "least": least,
        "most": most,
    }
    return Turn(
        index=index,
        observation=Observation(text="", actions=ACTIONS),
        decision=Decision.act(action),
        reward=0.0,
        terminated=index == 2,
        truncated=False,
        success=float(index == 2),
        state=State(facts={"optimum": fact}),
        optimal=None if undecided else optimal,
    )


def episode(*turns: Turn, end: State | None = None) -> Trajectory:
    return Trajectory(
        key=EpisodeKey(condition=0, world=0),
        seed=0,
        world=World(id="w"),
        labels={},
        horizon=3,
        turns=turns,
        ending="terminated",
        final_state=end,
    )


SUCCESS = episode(
    turn(0, "left", ("left",), ("right",), 2, 3),
    turn(1, "left", (), ("left",), 1, 2),
    turn(2, "forward", ("forward",), (), 1, 1),
)


def test_the_facts_of_an_episode_are_what_one_counts() -> None:
    counted = {
        "turns": 3,
        "unsearched": 0,
        "least": 2,  # not the undecided left
        "most": 3,
        "certified": 1,  # the last turn
        "optimal": 1,
        "played": 1,
    }
    reached = {
        "regret_least": 0,  # 3 turns for at most 3
        "regret_most": 1,  # 3 turns for at least 2
        "lost_least": 0,
        "lost_most": 0,
    }
    assert bounds.facts(SUCCESS, None) == counted | reached

    astray = turn(0, "right", ("left",), (), 4, 5)
    end = turn(1, "right", (), (), 5, None).state
    lost = bounds.facts(episode(astray, end=end), None)
    assert (lost["regret_least"], lost["lost_least"]) == (1, 0)  # 1 turn - 5 + 5
    assert (lost["regret_most"], lost["lost_most"]) == (None, 1)


def test_an_episode_without_a_search_refuses_all_bounds() -> None:
    blank = replace(SUCCESS.turns[0], state=None)
    facts = bounds.facts(episode(SUCCESS.turns[1], blank), None)
    assert (facts["turns"], facts["unsearched"], facts["least"]) == (2, 1, None)
    for order in ((SUCCESS, episode(blank)), (episode(blank), SUCCESS)):
        found = bounds(Evidence(trajectories=order))
        assert {each.reason for each in found} == {NO_SEARCH}


def test_undecided_actions_count_on_both_sides() -> None:
    found = {each.name: each for each in bounds(Evidence(trajectories=[SUCCESS]))}
    assert found["bounds.accuracy.least"].value == pytest.approx(2 / 3)
    assert found["bounds.accuracy.most"].value == 1
    assert found["bounds.accuracy.certified"].value == 1
    assert found["bounds.certified"].value == pytest.approx(1 / 3)
    assert found["bounds.regret.least"].value == 0
    assert found["bounds.regret.most"].value == 1


def test_a_headline_of_bounds_stands_for_accuracy() -> None:
    headlines = [one for one in BOUNDS if one.headline]
    assert [one.instead for one in headlines] == ["accuracy", "accuracy"]


def test_bounds_say_why_they_have_no_value() -> None:
    blank = replace(turn(0, "left", (), (), 1, 1), state=None)
    unsearched = bounds(Evidence(trajectories=[episode(blank)]))
    unfinished = bounds(Evidence(trajectories=[]))
    assert {each.reason for each in unsearched} == {NO_SEARCH}
    assert {each.reason for each in unfinished} == {"no episode was finished"}
