"""Turns whose tokens are changed, each with donors of what is put in their place."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gde_plugins.probes.course.turns import CourseTurn


@dataclass(frozen=True, kw_only=True, eq=False)
class Trial:
    """A turn with its donors, by their rows among the turns."""

    turn: int
    donor: int
    """Of another move."""
    same: int
    """Of the turn's own move."""
    pair: int
    """Of another move than the turn's and the donor's."""


def trials_of(
    turns: Sequence[CourseTurn], number: int, rng: np.random.Generator
) -> list[Trial]:
    """At most so many turns, each with random donors."""
    moves = np.array([turn.action for turn in turns])
    trials: list[Trial] = []
    for row in rng.permutation(len(turns)).tolist():
        others = np.flatnonzero(moves != moves[row])
        same = np.flatnonzero(moves == moves[row])
        same = same[same != row]
        if len(others) and len(same) and len(trials) < number:
            donor = int(rng.choice(others))
            third = others[moves[others] != moves[donor]]
            if len(third):
                trials.append(
                    Trial(
                        turn=row,
                        donor=donor,
                        same=int(rng.choice(same)),
                        pair=int(rng.choice(third)),
                    )
                )
    return trials
