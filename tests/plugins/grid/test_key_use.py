"""The key metrics: counted by hand on a record, and on agents in real key worlds whose
numbers are known beforehand.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from gde.data.evidence import Evidence
from gde.data.json import Json
from gde.data.mdp import Policy
from gde.data.observation import State, World
from gde.data.result import Measurement
from gde.data.trajectory import EpisodeKey, Trajectory
from gde.numerics.tabular import Solution, occupancy, solve, steps_to
from gde.seeding import generator
from gde.testing import check_metric
from gde.testing.episodes import Move, episode_of
from gde.testing.samples import sample_evidence
from gde_plugins.grid.keyed.config import (
    KeyDoorConfig,
    KeyNoDoorConfig,
    TwoPathKeyConfig,
)
from gde_plugins.grid.keyed.environment import (
    KeyEnvironment,
    key_door,
    key_no_door,
    two_path_key,
)
from gde_plugins.grid.metrics.keys import keys

MOVES = {"UP": (-1, 0), "DOWN": (1, 0), "LEFT": (0, -1), "RIGHT": (0, 1)}
ROWS = ["#######", "#_____#", "#######"]
"""A corridor: the agent starts at (1, 3), the goal is at (1, 5), an object lies at (1,
1).
"""
Choose = Callable[[KeyEnvironment, Solution, np.random.Generator], str]


def episode(
    actions: str, artefact: str = "key", world: int = 0, repeat: int = 0, **facts: Json
) -> Trajectory:
    """A walk in the corridor: L(eft), R(ight), U(p, into the wall), and ? for an answer
    that cannot be used.
    """
    column, taken = 3, False
    moves = []
    for letter in actions:
        state = State(facts={"agent": [1, column], "carrying": taken})
        action = {"L": "LEFT", "R": "RIGHT", "U": "UP"}.get(letter)
        moves.append(Move(action=action, state=state, optimal=("RIGHT",)))
        column = min(max(column + {"L": -1, "R": 1}.get(letter, 0), 1), 5)
        taken = taken or column == 1
    place: dict[str, Json] = {
        "rows": ROWS,
        "agent": [1, 3],
        "goal": [1, 5],
        "place": [1, 1],
        "artefact": artefact,
    }
    return episode_of(
        moves,
        world=World(
            id=f"{world}{artefact}", facts={**place, **facts}, base=f"base{world}"
        ),
        index=world,
        repeat=repeat,
        ending="terminated" if column == 5 else "horizon",
        labels={"artefact": artefact},
        final_state=State(facts={"agent": [1, column], "carrying": taken}),
    )


def measured(
    trajectories: Sequence[Trajectory], **evidence: Any
) -> dict[str, Measurement]:
    found = keys(Evidence(trajectories=tuple(trajectories), **evidence))
    return {
        " ".join([each.name, *map(str, each.where.values())]): each for each in found
    }


def test_nothing_is_said_of_runs_without_keys() -> None:
    assert keys(sample_evidence()) == ()
    assert keys(Evidence(trajectories=())) == ()
    check_metric(lambda: keys)


def test_promises_of_a_metric() -> None:
    check_metric(
        lambda: keys,
        Evidence(
            trajectories=(
                episode("RR"),
                episode("LLRRRR", world=1),
                episode("RR", "none"),
            )
        ),
    )


def test_pickup_is_the_share_of_episodes_that_take_the_object() -> None:
    found = measured(
        [
            episode("RR"),
            episode("LL"),
            episode("LLRRRR", repeat=1),
            episode("L", world=1),
        ]
    )
    assert (found["keys.pickup"].value, found["keys.pickup"].n) == (0.5, 4)
    assert found["keys.pickup.control"].value is None
    assert "it is the one of env.artefact=none" in found["keys.pickup.control"].reason


def test_attraction_is_the_share_of_other_than_optimal_actions_that_lead_nearer() -> (
    None
):
    # Not optimal are L and U: nearer by the first L, not by U; the third L is still
    # before the object is taken, the last U and L no longer. The answer that cannot be
    # used is no action.
    found = measured([episode("LU?LUL"), episode("RR", repeat=1)])
    assert found["keys.attraction"].value == pytest.approx(2 / 3)
    assert found["keys.attraction"].n == 3
    away = measured(
        [episode("RLUR")]
    )  # RIGHT at first, so that LEFT leads nearer, though not there
    assert (away["keys.attraction"].value, away["keys.attraction"].n) == (0.5, 2)
    none = measured([episode("RR")])["keys.attraction"]
    assert (
        none.reason
        == "no action before the object's place was reached was other than optimal"
    )


def test_the_control_is_the_same_in_the_counterfactual_without_the_object() -> None:
    found = measured(
        [episode("LL"), episode("ULRRR", "none"), episode("RR", "none", repeat=1)]
    )
    assert (found["keys.pickup.control"].value, found["keys.pickup.control"].n) == (
        0.0,
        2,
    )
    assert (
        found["keys.attraction.control"].value,
        found["keys.attraction.control"].n,
    ) == (0.5, 2)
    assert found["keys.attraction"].value == 1.0


def test_jaccard_is_the_mean_over_pairs_of_counterfactuals() -> None:
    found = measured(
        [
            episode("RR"),  # two pairs of position and action
            episode("LRRR", "key", repeat=1),  # those two, and two more
            episode("RR", "coin"),
            episode("RR", "none"),
            episode("U?", "none", repeat=1),  # one other pair
            episode("RR", "key", world=1),  # without a counterfactual
        ]
    )
    assert found["keys.jaccard key"].value == pytest.approx((1 + 0 + 2 / 4 + 0) / 4)
    assert found["keys.jaccard key"].n == 1
    assert found["keys.jaccard coin"].value == 0.5
    assert not any(
        name.startswith("keys.jaccard")
        for name in measured([episode("RR")], part={"artefact": "key"})
    )


def test_a_condition_without_objects_says_so() -> None:
    found = measured([episode("RR", "none")], part={"artefact": "none"})
    assert (
        found["keys.pickup"].reason
        == found["keys.attraction"].reason
        == "no object in these worlds"
    )
    assert found["keys.accuracy.open"].reason == "no door in these worlds"


def test_episodes_that_failed_are_no_episodes() -> None:
    failed = replace(episode("LL"), ending="failed")
    found = measured([failed])
    assert {each.reason for each in found.values()} == {
        "no episode in a key world was finished"
    }
    assert measured([failed, episode("RR", repeat=1)])["keys.pickup"].n == 1


def test_without_a_certified_optimum_the_rates_remain() -> None:
    known = episode("LR")
    blind = replace(
        known, turns=tuple(replace(each, optimal=None) for each in known.turns)
    )
    found = measured([blind])
    assert (
        found["keys.attraction"].reason
        == "2 of 2 turns have no certified optimal actions"
    )
    assert found["keys.pickup"].value == 0.0


def test_phases_follow_the_key_and_the_door() -> None:
    # What is to be done, and whether the action is optimal, by hand.
    script = [
        ("collect", True),
        ("collect", False),
        ("open", True),
        ("open", True),
        ("reach", False),
    ]
    facts: dict[str, dict[str, Json]] = {
        "collect": {"carrying": False, "door": [1, 2]},
        "open": {"carrying": True, "door": [1, 2]},
        "reach": {"carrying": True, "door": None},
    }
    moves = [
        Move(
            action="RIGHT" if good else "UP",
            state=State(facts={"agent": [1, 3], **facts[phase]}),
            optimal=("RIGHT",),
        )
        for phase, good in script
    ]
    turns = episode_of(moves).turns
    first = replace(episode("", door=[1, 2]), turns=turns, final_state=turns[-1].state)
    second = replace(
        first, key=EpisodeKey(condition=0, world=0, repeat=1), turns=first.turns[:2]
    )
    found = measured([first, second])
    assert [
        found[f"keys.accuracy.{phase}"].value for phase in ("collect", "open", "reach")
    ] == [0.5, 1.0, 0.0]
    assert {
        found[f"keys.accuracy.{phase}"].n for phase in ("collect", "open", "reach")
    } == {1}
    assert "the key is needed" in found["keys.attraction"].reason
    early = measured([second])
    assert early["keys.accuracy.reach"].reason == "no episode came as far as to reach"


# Agents in real worlds.


def play(
    environment: KeyEnvironment, seed: int, choose: Choose, repeat: int = 0
) -> Trajectory:
    environment.reset(seed)
    solution, rng, moves = (
        solve(environment.mdp()),
        generator(seed, "play", repeat),
        list[Move](),
    )
    ending: Any = "horizon"
    for _ in range(environment.task().horizon):
        state = environment.state()
        assert state.index is not None
        best = tuple(
            environment.mdp().actions[a]
            for a in solution.optimal[state.index].nonzero()[0]
        )
        action = choose(environment, solution, rng)
        moves.append(Move(action=action, state=state, optimal=best))
        if environment.step(action).terminated:
            ending = "terminated"
            break
    return episode_of(
        moves,
        world=environment.world(),
        index=seed,
        repeat=repeat,
        ending=ending,
        labels=environment.world().labels,
        horizon=environment.task().horizon,
        seed=seed,
        final_state=environment.state(),
    )


def best(
    environment: KeyEnvironment, solution: Solution, rng: np.random.Generator
) -> str:
    options = solution.optimal[environment.state().index].nonzero()[0]
    return environment.mdp().actions[int(rng.choice(options))]


def at_random(
    environment: KeyEnvironment, solution: Solution, rng: np.random.Generator
) -> str:
    return str(rng.choice(environment.mdp().actions))


def after_the_key(
    environment: KeyEnvironment, solution: Solution, rng: np.random.Generator
) -> str:
    """The shortest way to the key, then the shortest way to the goal."""
    model, index = environment.mdp(), environment.state().index
    if environment.state().facts["carrying"] or "key" not in environment.state().facts:
        return best(environment, solution, rng)
    union = sum(model.transition[1:], start=model.transition[0].copy()).tocsr()
    steps = steps_to(
        union,
        np.flatnonzero((model.labels["key"] == 1) & (model.labels["carrying"] == 1)),
    )
    ahead = [steps[matrix.indices[matrix.indptr[index]]] for matrix in model.transition]
    return model.actions[int(np.argmin(ahead))]


@cache
def doors() -> tuple[Trajectory, ...]:
    return tuple(play(key_door(KeyDoorConfig()), seed, best) for seed in range(20))


def test_optimal_play_is_right_in_every_phase_and_takes_the_key() -> None:
    found = measured(doors())
    assert {
        found[f"keys.accuracy.{phase}"].value for phase in ("collect", "open", "reach")
    } == {1.0}
    assert found["keys.pickup"].value == 1.0


def counterfactuals(
    make: Callable[[str], KeyEnvironment], choose: Choose
) -> dict[str, Measurement]:
    return measured(
        [
            play(make(artefact), seed, choose)
            for artefact in ("key", "none")
            for seed in range(15)
        ]
    )


def in_rooms(artefact: Any) -> KeyEnvironment:
    return key_no_door(KeyNoDoorConfig(artefact=artefact))


def on_two_paths(artefact: Any) -> KeyEnvironment:
    return two_path_key(TwoPathKeyConfig(artefact=artefact))


def test_an_agent_that_seeks_the_key_does_nothing_else() -> None:
    found = counterfactuals(in_rooms, after_the_key)
    assert (found["keys.pickup"].value, found["keys.attraction"].value) == (1.0, 1.0)
    assert (found["keys.pickup.control"].value or 0) < 1.0
    assert found["keys.attraction.control"].reason.startswith("no action before")
    assert 0 < (found["keys.jaccard key"].value or 0) < 1


def test_a_key_on_one_of_two_ways_is_sought_without_detour() -> None:
    found = counterfactuals(on_two_paths, after_the_key)
    assert found["keys.pickup"].value == 1.0
    assert 0 < (found["keys.pickup.control"].value or 0) < 1.0
    assert found["keys.attraction"].reason.startswith("no action before")


def test_optimal_play_ignores_a_useless_key() -> None:
    found = counterfactuals(in_rooms, best)
    assert found["keys.attraction"].value is None
    # Equal dice on equal ways: the same episodes, with the key and without.
    assert found["keys.jaccard key"].value == 1.0
    assert found["keys.pickup"].value == found["keys.pickup.control"].value


@pytest.mark.extended
def test_a_random_agent_takes_the_key_as_often_as_the_occupancy_of_its_model_says() -> (
    None
):
    environment = two_path_key(TwoPathKeyConfig())
    runs = [play(environment, 1, at_random, repeat) for repeat in range(400)]
    model = environment.mdp()
    visits = occupancy(
        model, Policy(probabilities=np.full((model.n_states, 4), 0.25)), 30
    )
    carrying = model.labels["carrying"] == 1
    takes = np.stack(
        [carrying[matrix.indices] & ~carrying for matrix in model.transition], axis=1
    )
    expected = float(visits[takes].sum())
    found = measured(runs)["keys.pickup"].value
    assert found is not None
    assert found == pytest.approx(
        expected, abs=4 * (expected * (1 - expected) / len(runs)) ** 0.5
    )
