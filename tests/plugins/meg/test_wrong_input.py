"""What is wrong with an input is said in one line: which, what was wanted, what was
got.
"""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from random_models import random_policy

from gde import Policy, TabularMDP
from gde_plugins.meg import (
    causal,
    from_trajectories,
    known_utility,
    soft_policy,
    target_variables,
    unknown_utility,
)
from gde_plugins.meg.causal import Diagram, chance, decision, utility
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.trajectories.linear_utility import Linear
from gde_plugins.meg.worlds import cliff_world, epsilon_greedy, greedy


def rng() -> np.random.Generator:
    """Its own for each use, so that no test hangs on those before it."""
    return np.random.default_rng(0)


STAY, SWITCH = [[1, 0], [0, 1]], [[0, 1], [1, 0]]
WORLD = cliff_world(4, 3)
POLICY, TIMED = random_policy(rng(), WORLD), random_policy(rng(), WORLD, 5)
HANDS = Diagram(
    decision("D1", [0.2, 0.8]),
    decision("D2", [0.2, 0.8]),
    chance("T", [[[1, 0], [0, 1]], [[0, 1], [1, 0]]], ["D1", "D2"]),
)
NAN: Any = float("nan")


def model(
    transition: Any = (STAY, SWITCH), reward: Any = (0, 1), **more: Any
) -> TabularMDP:
    return TabularMDP.of(transition, reward, **more)


def episode(**more: Any) -> Episode:
    return Episode(
        **{
            "mdp": WORLD,
            "states": np.array([0]),
            "actions": np.array([0]),
            "horizon": 3,
            **more,
        }
    )


def recorded(obs: Any, acts: Any) -> Any:
    return [SimpleNamespace(obs=obs, acts=acts)]


EPISODES = [episode(cluster=str(i), actions=np.array([i % 4])) for i in range(6)]
ANY: Any = None

WRONG: dict[str, list[tuple[str, Callable[[], object]]]] = {
    "models": [
        ("transition must be .* got NoneType", lambda: model(None)),
        ("transition must be .* got int", lambda: model(3)),
        ("transition must be .* got list", lambda: model([])),
        (
            r"transition\[0\] must be an array of numbers",
            lambda: model([[[1, 0], [0]], SWITCH]),
        ),
        (
            r"transition\[0\] must be an array of numbers",
            lambda: model([[["a", "b"], ["c", "d"]]]),
        ),
        (r"transition\[0\] must have shape", lambda: model([[[1, 0, 0], [0, 1, 0]]])),
        (r"transition\[1\] must have shape", lambda: model([STAY, np.eye(3)])),
        (
            r"transition\[0\] row 0 must be probabilities",
            lambda: model([[[NAN, 1], [0, 1]]]),
        ),
        (
            r"transition\[0\] row 0 must be probabilities",
            lambda: model([[[-1, 2], [0, 1]]]),
        ),
        (
            r"transition\[0\] row 0 must be probabilities",
            lambda: model([[[0.5, 0.4], [0, 1]]]),
        ),
        (
            r"transition must be \(A, S, S\), got tuple",
            lambda: replace(WORLD, transition=()),
        ),
        ("reward must have shape", lambda: model(reward=[0, 1, 2])),
        ("reward must have shape", lambda: model(reward=np.zeros((2, 2, 2)))),
        ("reward must be finite", lambda: model(reward=[0, NAN])),
        ("reward must be an array of numbers, got str", lambda: model(reward="01")),
        (
            "reward must be an array of numbers, got NoneType",
            lambda: model(reward=None),
        ),
        ("reward must be an array of numbers", lambda: replace(WORLD, reward=ANY)),
        ("start must be a state from 0 to 1", lambda: model(start=5)),
        ("start must be a state from 0 to 1", lambda: model(start=-1)),
        ("start must be a state from 0 to 1", lambda: model(start=0.5)),
        ("start must be an array of numbers, got str", lambda: model(start="0")),
        (r"start must be \(2,\) probabilities", lambda: model(start=[0.5, 0.2])),
        (r"start must be \(2,\) probabilities", lambda: model(start=[1, 0, 0])),
        ("discount must be from 0 to 1, got 1.1", lambda: model(discount=1.1)),
        ("discount must be from 0 to 1, got nan", lambda: model(discount=NAN)),
        ("discount must be from 0 to 1, got '1'", lambda: model(discount="1")),
        ("discount must be from 0 to 1, got None", lambda: model(discount=None)),
        ("terminal must be bool", lambda: model(terminal=[True])),
        ("terminal must be bool", lambda: model(terminal=[0.3, 1])),
        ("actions must name all 2", lambda: model(actions=("a",))),
        (r"labels\['x'\] must have shape", lambda: model(labels={"x": [0, 1, 2]})),
        (r"labels\['x'\] must be finite", lambda: model(labels={"x": [0, NAN]})),
    ],
    "policies": [
        ("a policy must be an array of numbers", lambda: Policy.of([[1, 0], [1]])),
        ("a policy must be an array of numbers, got str", lambda: Policy.of("x")),
        ("a policy must be an array of numbers, got NoneType", lambda: Policy.of(ANY)),
        ("every row of a policy must be probabilities", lambda: Policy.of([[NAN, 1]])),
        (
            "every row of a policy must be probabilities",
            lambda: Policy.of([[0.5, 0.6]]),
        ),
        (
            "every row of a policy must be probabilities",
            lambda: Policy.of([[-0.5, 1.5]]),
        ),
        (
            "every row of a policy must be probabilities",
            lambda: Policy.of(np.zeros((3, 0))),
        ),
        ("probabilities must be an array of shape", lambda: Policy.of([0.5, 0.5])),
        (
            "probabilities must be an array of shape",
            lambda: Policy.of(np.full((1, 1, 1, 2), 0.5)),
        ),
    ],
    "known utility": [
        (
            "mdp: wanted a TabularMDP, got NoneType",
            lambda: known_utility(ANY, POLICY, 3),
        ),
        (
            "mdp: wanted a TabularMDP, got ndarray",
            lambda: known_utility(np.eye(3), POLICY, 3),
        ),  # type: ignore[arg-type]
        (
            "policy: wanted a Policy, got ndarray",
            lambda: known_utility(WORLD, POLICY.probabilities, 3),
        ),  # type: ignore[arg-type]
        ("policy: wanted a Policy, got NoneType", lambda: known_utility(WORLD, ANY, 3)),
        (
            "the policy must have shape",
            lambda: known_utility(WORLD, Policy.of([[0.5, 0.5]]), 3),
        ),
        (
            "the policy must have shape",
            lambda: known_utility(WORLD, Policy.of(np.full((12, 5), 0.2)), 3),
        ),
        ("the policy must have shape", lambda: known_utility(WORLD, TIMED, 9)),
        (
            "the policy must be stationary",
            lambda: known_utility(replace(WORLD, discount=0.9), TIMED, None),
        ),
        *[
            (
                "horizon must be an integer of at least 1",
                lambda wrong=wrong: known_utility(WORLD, POLICY, wrong),
            )
            for wrong in (0, -1, 2.5, "3", NAN)
        ],
        ("beta must be a number or .* got NaN", lambda: soft_policy(WORLD, NAN, 3)),
        ("mdp: wanted a TabularMDP", lambda: soft_policy(ANY, 1.0, 3)),
    ],
    "unknown utility": [
        *[
            (
                "utilities must be 'states', ",
                lambda wrong=wrong: unknown_utility(WORLD, POLICY, wrong, 3),
            )
            for wrong in ("nonsense",)
        ],
        (
            "features must have shape",
            lambda: unknown_utility(WORLD, POLICY, np.zeros((5, 2)), 3),
        ),
        (
            "features must have shape",
            lambda: unknown_utility(WORLD, POLICY, np.zeros((12, 0)), 3),
        ),
        (
            "features must be finite",
            lambda: unknown_utility(WORLD, POLICY, np.full((12, 2), NAN), 3),
        ),
        ("wanted|must", lambda: unknown_utility(WORLD, POLICY, {}, 3)),
        ("wanted|must", lambda: unknown_utility(WORLD, POLICY, {"a": np.zeros(5)}, 3)),
        (
            "policy: wanted a Policy",
            lambda: unknown_utility(WORLD, POLICY.probabilities, "states", 3),
        ),  # type: ignore[arg-type]
    ],
    "worlds": [
        ("a width from 2", lambda: cliff_world(0)),
        ("wind: wanted a probability, got nan", lambda: cliff_world(wind=NAN)),
        ("horizon must be", lambda: greedy(WORLD, 0)),
        ("epsilon: wanted a probability", lambda: epsilon_greedy(POLICY, NAN)),
        ("horizon must be", lambda: random_policy(rng(), WORLD, 0)),
    ],
    "episodes": [
        (
            "states: wanted whole numbers from 0 to 11, got 50",
            lambda: episode(states=np.array([50])),
        ),
        (
            "actions: wanted whole numbers from -1 to 3, got 7",
            lambda: episode(actions=np.array([7])),
        ),
        ("equally long", lambda: episode(actions=np.array([0, 1]))),
        *[
            (
                "horizon: wanted a whole number",
                lambda wrong=wrong: episode(horizon=wrong),
            )
            for wrong in (0,)
        ],
        ("wanted episodes", lambda: from_trajectories([], rng=rng())),
        (
            "wanted a label of the model, .* got 'nope'",
            lambda: from_trajectories(EPISODES, "nope", rng=rng()),
        ),
        ("wanted|must", lambda: from_trajectories(EPISODES, Linear(()), rng=rng())),
        ("wanted|must", lambda: from_trajectories(EPISODES, Linear("goal"), rng=rng())),  # type: ignore[arg-type]
    ],
    "diagrams": [
        (
            "table of 'S': wanted an array of numbers",
            lambda: chance("S", [[1, 2], [1]], ["x"]),
        ),
        ("table of 'S': wanted an array of numbers", lambda: chance("S", "abc")),
        (
            r"table of 'S', row \(\): wanted probabilities",
            lambda: chance("S", [0.5, 0.6]),
        ),
        (
            r"table of 'S', row \(\): wanted probabilities",
            lambda: chance("S", [NAN, 1]),
        ),
        ("table of 'S': wanted one axis", lambda: chance("S", [])),
        ("table of 'S': wanted one axis", lambda: chance("S", 1.0)),
        (
            "table of 'S': wanted a list of parents, got the text 'D'",
            lambda: chance("S", STAY, "D"),
        ),
        ("utility 'U': wanted finite numbers", lambda: utility("U", [1, NAN], ["T"])),
        ("utility 'U': wanted an array of numbers", lambda: utility("U", "ab", ["T"])),
        (
            "table of 'U': wanted shape",
            lambda: HANDS.posit(utilities=[utility("U", [1, 2, 3], ["T"])]),
        ),
        (
            "wanted every variable once",
            lambda: Diagram(chance("S", [1.0]), chance("S", [1.0])),
        ),
        ("wanted a variable of the diagram", lambda: HANDS.posit(["X"])),
        ("wanted a decision", lambda: HANDS.follow({"X": [0.5, 0.5]})),
        ("table of 'D1'", lambda: HANDS.follow({"D1": [NAN, 0.3]})),
        ("wanted at least one target", lambda: target_variables(HANDS, [])),
        (
            "wanted a list of variables, got the text 'T'",
            lambda: target_variables(HANDS, "T"),
        ),
        (
            "wanted a list of variables, got the text 'T'",
            lambda: target_variables(HANDS, ["T"], "T"),
        ),
        (
            "wanted targets that are no decisions",
            lambda: target_variables(HANDS, ["D1"]),
        ),
        ("wanted a diagram with utilities", lambda: causal.towards_utilities(HANDS)),
    ],
}
CASES = [(name, said, wrong) for name, each in WRONG.items() for said, wrong in each]


@pytest.mark.parametrize(
    ("said", "wrong"),
    [case[1:] for case in CASES],
    ids=[f"{name}" for name, *_ in CASES],
)
def test_it_is_said_in_one_line_what_is_wrong(
    said: str, wrong: Callable[[], object]
) -> None:
    with pytest.raises(ValueError, match=said) as raised:
        wrong()
    assert "\n" not in str(raised.value)
