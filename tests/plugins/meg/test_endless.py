"""Systems without a solution: a reason, never a crash. Each runs in a process of its own."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gde import Policy, TabularMDP
from gde_plugins.meg import known_utility, unknown_utility

WORLDS = Path(__file__).parent / "endless_worlds.py"


def measured(first: int, end: int) -> int:
    """Measure random worlds, and return how many have a value."""
    done = subprocess.run(
        [sys.executable, str(WORLDS), str(first), str(end)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-1000:]
    assert "illegal value" not in done.stdout + done.stderr
    return int(done.stdout.splitlines()[-1])


def test_a_world_that_may_not_end_has_a_value_or_a_reason() -> None:
    assert 2 < measured(0, 12) < 11


@pytest.mark.parametrize(
    "first",
    [
        *(pytest.param(n, marks=pytest.mark.extended) for n in range(0, 400, 50)),
        *(pytest.param(n, marks=pytest.mark.slow) for n in range(400, 2000, 50)),
    ],
)
def test_no_world_of_2000_is_a_crash(first: int) -> None:
    assert measured(first, first + 50)


def corridor(n_states: int = 6) -> TabularMDP:
    """Two actions, back and on, in a row of states that ends in the last; every step
    costs one.
    """
    states = np.arange(n_states)
    identity = np.eye(n_states)
    return TabularMDP.of(
        [
            identity[np.maximum(states - 1, 0)],
            identity[np.minimum(states + 1, n_states - 1)],
        ],
        -1.0 * (states < n_states - 1),
        start=2,
        terminal=states == n_states - 1,
    )


def test_a_policy_need_not_end_where_it_never_gets() -> None:
    policy = Policy.of([[1, 0], [1, 0], [0, 1], [0, 1], [0, 1], [0, 1]])
    assert known_utility(corridor(), policy, None).share == pytest.approx(1)
    assert unknown_utility(corridor(), policy, horizon=None).share == pytest.approx(1)


@pytest.mark.parametrize("on", [0.0, 1e-14])
def test_the_state_of_which_there_is_no_end_is_named(on: float) -> None:
    """A step that has to be waited for 10^14 times is none."""
    policy = Policy.of([[1 - on, on]] * 6)
    with pytest.raises(
        ValueError, match=r"under the policy, .* from state 0: give a hor"
    ):
        known_utility(corridor(), policy, None)


def test_a_state_is_named_by_its_number_in_the_whole_world() -> None:
    """States that cannot be reached are left out, and the others numbered anew."""
    step = np.zeros((2, 4, 4))
    step[:, 0, 0] = step[:, 1, 3] = step[1, 3, 2] = step[0, 3, 3] = step[:, 2, 2] = 1
    world = TabularMDP.of(
        step, [0, 0, 0, 0], start=1, terminal=np.array([0, 0, 1, 0], dtype=bool)
    )
    with pytest.raises(ValueError, match="from state 1:"):
        unknown_utility(world, Policy.of([[1, 0]] * 4), horizon=None)


def test_waiting_may_be_free() -> None:
    """Among the optimal policies is one that never ends."""
    states = np.arange(3)
    identity = np.eye(3)
    world = TabularMDP.of(
        [identity, identity[np.minimum(states + 1, 2)]],
        np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]),
        terminal=states == 2,
    )
    found = known_utility(world, Policy.of([[0.5, 0.5]] * 3), None)
    assert found.value == 0 and found.converged
