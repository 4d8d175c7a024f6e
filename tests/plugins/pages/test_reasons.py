"""Why an episode was not optimal: from its states and certified actions alone."""

from dataclasses import replace

import pytest

from gde.data.evidence import Evidence
from gde.data.observation import State
from gde.data.trajectory import Trajectory
from gde_plugins.pages.episodes import episode_table
from gde_plugins.pages.reasons import why


def walk(evidence: Evidence, cells: list[int], strays: set[int], reached: bool = True) -> Trajectory:  # fmt: skip
    """An episode through these cells; in turns `strays` the action is not optimal."""
    one = next(
        each
        for each in evidence.trajectories
        if each.turns and each.succeeded == reached
    )
    turns = []
    for i, cell in enumerate(cells):
        first = one.turns[0]
        decision = replace(first.decision, action="UP", status="ok")
        turns.append(
            replace(
                first,
                index=i,
                state=State(facts={"agent": cell}),
                decision=decision,
                success=float(reached),
                optimal=("DOWN",) if i in strays else ("UP",),
            )
        )
    return replace(one, turns=tuple(turns))


@pytest.mark.parametrize(
    ("cells", "strays", "told"),
    [
        ([0, 1, 2], set(), ("", 1)),
        ([0, 0, 1], {0}, ("changed nothing: UP", 1)),
        ([0, 1, 0], {1}, ("turned back: UP", 2)),
        ([0, 1, 2, 0], {2}, ("back where it was: UP", 3)),
        ([0, 1, 2], {1}, ("longer way: UP", 2)),
        ([0, 1, 2], {2}, ("longer way: UP", 3)),
        # An optimal move may change nothing, e.g. to wait.
        ([0, 0, 1], set(), ("", 1)),
    ],
)
def test_the_first_slip_is_told_with_its_turn(
    evidence: Evidence, cells: list[int], strays: set[int], told: tuple[str, int]
) -> None:
    assert why(walk(evidence, cells, strays)) == told  # fmt: skip


def test_an_answer_that_could_not_be_read_is_told(evidence: Evidence) -> None:
    one = walk(evidence, [0, 1], set())
    unread = replace(one.turns[1].decision, action=None, status="unparsable")
    turns = one.turns[0], replace(one.turns[1], decision=unread)
    assert why(replace(one, turns=turns)) == ("unusable answer (unparsable)", 2)


def test_optimal_moves_that_do_not_arrive_ran_out_of_turns(evidence: Evidence) -> None:
    one = walk(evidence, [0, 1], set(), reached=False)
    assert why(one) == ("ran out of turns", 1)


def test_episodes_stand_in_a_table_the_worst_first_with_links(
    evidence: Evidence,
) -> None:
    (group,) = episode_table(evidence).groups
    outcomes = [row.cells[0].text for row in group.rows]
    assert outcomes == sorted(outcomes), "goal not reached before reached"
    assert all(row.link.startswith("#episode=") for row in group.rows)
    played = [one for one in evidence.trajectories if one.turns]
    assert {row.hint for row in group.rows} == {str(one.key) for one in played}
