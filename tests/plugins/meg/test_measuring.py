"""One function for every kind of world and behaviour."""

from collections.abc import Callable
from math import inf, log
from typing import Any

import gymnasium
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from gde import Policy, TabularMDP
from gde_plugins.gymnasium import from_gymnasium, mdp_of
from gde_plugins.meg import causal, known_utility, measure, soft_policy
from gde_plugins.meg.causal import chance, mouse, utility

ON = np.roll(np.eye(3), 1, axis=1)
"""A ring of three states."""
MOVES = np.array([np.eye(3), ON])
RING = TabularMDP.of(MOVES, [0, 0, 1], discount=0.9, actions=("WAIT", "ON"))
SEEKER = Policy.of([[0, 1], [0, 1], [1, 0]])
POLE = from_gymnasium("CartPole-v1", horizon=10)
CHEESE = utility("U", [-1, 1], ["T"])


class Predicts:
    """An agent of another library."""

    def __init__(self, answer: Callable[[Any], Any]) -> None:
        self.predict = answer


def log_of(n: int = 8) -> dict[str, list[Any]]:
    """Episodes of the seeker, some steps of which are random."""
    rng = np.random.default_rng(0)
    rows: dict[str, list[Any]] = {"episode": [], "state": [], "action": []}
    for episode in range(n):
        state = 0
        for _ in range(6):
            action = int(rng.random() < (0.9 if state < 2 else 0.1))
            rows["episode"].append(episode)
            rows["state"].append(state)
            rows["action"].append(RING.actions[action])
            state = (state + action) % 3
    return rows


def test_a_policy_in_a_model_is_as_the_solver_says() -> None:
    found = measure(RING, SEEKER)
    assert found.value == pytest.approx(known_utility(RING, SEEKER, None).value)
    assert (found.share_of_optimal, found.beta) == (pytest.approx(1), inf)
    assert found.bounds is not None
    assert found.bounds[0] <= found.value <= found.bounds[1]
    assert found.certificate == "proven"
    assert found.assumed == (
        "the utility is the world's own reward",
        "episodes go on until they end",
    )


def test_an_agent_that_works_against_the_utility_has_a_negative_share() -> None:
    flees = Policy.of([[1, 0], [1, 0], [0, 1]])
    found = measure(RING, flees)
    assert found.share_of_optimal is not None and found.share_of_optimal < 0


@pytest.mark.parametrize(
    "towards",
    [{2}, "goal", lambda state: float(state == 2), [0, 0, 1], np.array([0, 0, 1.0])],
)
@pytest.mark.parametrize(
    "world",
    [MOVES, MOVES.tolist(), [csr_array(each) for each in MOVES], RING],
    ids=["array", "lists", "sparse", "model"],
)
def test_a_goal_may_be_said_in_many_ways(world: Any, towards: Any) -> None:
    if isinstance(towards, str):
        world = TabularMDP.of(MOVES, [0, 0, 0], labels={"goal": [0, 0, 1]})
    if world is RING:
        world = TabularMDP.of(MOVES, [1, 0, 0], actions=RING.actions)
    found = measure(world, SEEKER, towards=towards, horizon=6)
    assert found.value == pytest.approx(
        known_utility(TabularMDP.of(MOVES, [0, 0, 1]), SEEKER, 6).value
    )


def test_an_object_with_predict_is_asked_in_every_state() -> None:
    """Its answers may be names, numbers, or a pair with the state of a network."""
    for answer in (
        lambda states: (states < 2).astype(int),
        lambda states: ((states < 2).astype(int), None),
        lambda _: ["ON", "ON", "WAIT"],
    ):
        assert measure(RING, Predicts(answer)).share_of_optimal == pytest.approx(1)


def test_a_table_of_gymnasium() -> None:
    lake = mdp_of(gymnasium.make("FrozenLake-v1", is_slippery=False), discount=0.9)
    best = soft_policy(lake, inf, None)
    assert measure(lake, best).share_of_optimal == pytest.approx(1)
    chosen = from_gymnasium("FrozenLake-v1", is_slippery=False, discount=0.9)
    assert measure(chosen, best).share_of_optimal == pytest.approx(1)


def test_a_log_is_measured_with_an_interval() -> None:
    for record in (log_of(), pd.DataFrame(log_of())):
        found = measure(RING, record, rng=np.random.default_rng(0))
        assert found.bounds is not None and found.bounds[0] > 0
        assert found.share_of_optimal is not None and 0.2 < found.share_of_optimal < 1
        assert found.certificate == "95 % interval over 8 episodes"


def test_any_of_several_utilities_and_any_at_all() -> None:
    each = {"here": np.array([1.0, 0, 0]), "there": np.array([0, 0, 1.0])}
    some = measure(RING, SEEKER, unknown=each)
    assert some.found.name == "there" and some.share_of_optimal is None
    most = measure(RING, SEEKER, unknown="states")
    assert most.value is not None and some.value is not None
    assert most.value >= some.value - 1e-5
    assert most.beta is None


def test_a_diagram_is_measured_towards_targets_and_utilities() -> None:
    towards_t = measure(mouse(0.8), towards=["T"])
    assert towards_t.value == pytest.approx(0.192745, abs=1e-6)
    found = measure(mouse(0.8), towards=CHEESE)
    assert found.beta == pytest.approx(log(2))
    assert found.share_of_optimal == pytest.approx(0.192745 / log(2), abs=1e-5)
    assert measure(mouse(0.8), unknown=[CHEESE]).value == pytest.approx(found.value)
    follows = {"D": [[0.8, 0.2], [0.2, 0.8]]}
    assert measure(mouse(), follows, towards=["T"]).value == pytest.approx(found.value)


def test_a_world_that_is_only_sampled_has_a_lower_bound() -> None:
    def balance(seen: np.ndarray) -> tuple[int, None]:
        return int(seen[2] + 0.5 * seen[3] > 0), None

    found = measure(POLE, Predicts(balance), rng=np.random.default_rng(0))
    assert found.bounds is not None and found.bounds[0] > 2
    assert found.certificate.startswith("lower bound")


@pytest.mark.extended
def test_an_expert_is_told_from_a_random_agent_within_50_episodes() -> None:
    """Though one of its episodes is unlike those that its fold is predicted by."""
    pole = from_gymnasium("CartPole-v1", horizon=50)
    rng = np.random.default_rng(1)
    expert = measure(pole, Predicts(lambda seen: int(3 * seen[2] + seen[3] > 0)))
    random = measure(pole, Predicts(lambda _: int(rng.integers(2))))
    assert expert.bounds is not None and expert.bounds[0] > 20
    assert random.value == pytest.approx(0, abs=0.5)
    assert random.bounds is not None and random.bounds[0] == 0


def broken(**columns: Any) -> dict[str, Any]:
    log_ = log_of()
    for name, (row, value) in columns.items():
        log_[name][row] = value
    return log_


@pytest.mark.parametrize(
    ("said", "arguments"),
    [
        ("no column 'state': wanted episode, state, action", (RING, {"episode": [1]})),
        ("row 7: wanted a state from 0 to 2, got 9", (RING, broken(state=(7, 9)))),
        (
            "row 3: wanted a state from 0 to 2, got nan",
            (RING, broken(state=(3, np.nan))),
        ),
        (
            "row 5: wanted one of the actions WAIT, ON, got 'JUMP'",
            (RING, broken(action=(5, "JUMP"))),
        ),
        ("episode 0: decision 0 leads from state 0", (RING, broken(state=(1, 2)))),
        (
            "the policy in state 1: wanted one of the actions WAIT, ON, got 'JUMP'",
            (RING, Predicts(lambda _: ["ON", "JUMP", "ON"])),
        ),
        ("an action for each of 3 states, got 1", (RING, Predicts(lambda _: [0]))),
        ("behaviour: wanted a policy, a log", (RING, None)),
        (r"sum to one, but row \[1\] is not", (RING, [[0.5, 0.5], [0.5, 0.6], [1, 0]])),
        (
            "seed 0, turn 0: wanted one of the actions 0, 1, got 7",
            (POLE, Predicts(lambda _: 7)),
        ),
        ("seed 0, turn 0: no action is named", (POLE, Predicts(lambda _: None))),
        ("the world pays nothing: give towards=", (MOVES, SEEKER)),
        ("world: wanted a TabularMDP, transitions", (gymnasium, SEEKER)),
        (r"transition\[0\] must have shape \(2, 2\)", ([[1, 2], [3, 4]], SEEKER)),
        (
            "no terminal state can be reached from state 0",
            (TabularMDP.of(MOVES, [0, 0, 1]), SEEKER),
        ),
    ],
)
def test_what_does_not_fit_is_named_in_one_line(said: str, arguments: Any) -> None:
    with pytest.raises(ValueError, match=said) as raised:
        measure(*arguments)
    assert "\n" not in str(raised.value)


def test_questions_that_have_no_answer_are_refused() -> None:
    with pytest.raises(ValueError, match="without cycles, got A -> B -> A"):
        causal.Diagram(
            chance("A", [[1, 0], [0, 1]], ["B"]), chance("B", [[1, 0], [0, 1]], ["A"])
        )
    with pytest.raises(ValueError, match=r"variable of the diagram \(S, D, T\), got 3"):
        measure(mouse(), towards=[3])
    with pytest.raises(ValueError, match="towards= or unknown=, got both"):
        measure(RING, SEEKER, towards={1}, unknown="states")
    with pytest.raises(ValueError, match="target states from 0 to 2, got"):
        measure(RING, SEEKER, towards={3})
