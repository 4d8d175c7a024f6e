"""Numbers where a goal is proved to be out of reach: from the start, or once the agent
has put it there.
"""

from dataclasses import replace
from math import inf

from gde.data.trajectory import Trajectory
from gde.testing.samples import sample_evidence
from gde_plugins.behaviour.performance import accuracy, success

EVIDENCE = sample_evidence(episodes=4)
LOST, IMPOSSIBLE, *_ = [one for one in EVIDENCE.trajectories if len(one.turns) > 2]


def from_turn(episode: Trajectory, first: int) -> Trajectory:
    """The episode with the goal out of reach from a turn on."""
    turns = [
        replace(turn, optimal=(), value=-inf) if turn.index >= first else turn
        for turn in episode.turns
    ]
    return replace(episode, turns=tuple(turns))


def numbers(*changed: Trajectory) -> dict[str, tuple[float | None, int]]:
    by_key = {one.key: one for one in changed}
    episodes = tuple(by_key.get(one.key, one) for one in EVIDENCE.trajectories)
    evidence = replace(EVIDENCE, trajectories=episodes)
    found = (*success(evidence), *accuracy(evidence))
    return {one.name: (one.value, one.n) for one in found}


def test_what_an_agent_has_lost_counts_against_it() -> None:
    lost = from_turn(LOST, 2)
    assert lost.lost and not lost.impossible
    found = numbers(lost)
    assert found["success.lost"] == (0.25, 4)
    assert "success.solvable" not in found
    assert found["accuracy.pooled"][1] == numbers()["accuracy.pooled"][1]


def test_no_agent_can_be_right_in_an_impossible_world() -> None:
    impossible = from_turn(IMPOSSIBLE, 0)
    assert impossible.impossible and not impossible.lost
    found = numbers(impossible)
    solved = [
        one.succeeded for one in EVIDENCE.trajectories if one.key != impossible.key
    ]
    assert found["success.solvable"] == (sum(solved) / 3, 3)
    assert "success.lost" not in found
    n_turns = numbers()["accuracy.pooled"][1] - len(impossible.turns)
    assert found["accuracy.pooled"][1] == n_turns
    assert not {"success.solvable", "success.lost"} & numbers().keys()
