"""Readers of a course: one for each event, over many splits of the worlds.

A reader that is fitted at one event and used at another says little, for it takes a
rotation for a loss. So none is carried over.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from gde_plugins.probes.arrays import Bools, Codes, Doubles, Floats, Indices
from gde_plugins.probes.config import PENALTIES
from gde_plugins.probes.course.config import THINGS
from gde_plugins.probes.course.events import EVENTS
from gde_plugins.probes.course.sources import ByEvent
from gde_plugins.probes.course.turns import CourseTurn
from gde_plugins.probes.fitting.one_thread import one_thread
from gde_plugins.probes.fitting.reader import fit_reader
from gde_plugins.probes.fitting.ridge import fit_linear

TEST_SHARE = 0.3
"""Of the worlds of a split."""
AGENT, GOAL, EMPTY, WALL = range(4)
UNUSABLE = -1
"""In the place of an action."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Truth:
    """What is true and done in N turns, on squares of F cells, with A actions."""

    side: int
    cells: Codes
    """(N, F) of the classes AGENT, GOAL, EMPTY, and WALL where no turn has another."""
    optimal: Bools
    """(N, A)."""
    example: Codes
    """(N,) one of the optimal actions, at random, to which readers are fitted."""
    action: Codes
    """(N,) the action taken, or UNUSABLE."""

    @classmethod
    def of(cls, turns: Sequence[CourseTurn], rng: np.random.Generator) -> Self:
        """The truth of all turns.

        Raises:
            ValueError: a map without one agent and one goal.
        """
        side = max(max(turn.map.height, turn.map.width) for turn in turns)
        closed = np.ones((len(turns), side, side), dtype=bool)
        cells = np.full((len(turns), side, side), EMPTY)
        for row, turn in enumerate(turns):
            inside = (row, slice(turn.map.height), slice(turn.map.width))
            closed[inside] = turn.map.where("wall")
            cells[(row, *turn.map.place_of("goal"))] = GOAL
            cells[(row, *turn.map.place_of("agent"))] = AGENT
        cells[:, closed.all(axis=0)] = WALL

        names = sorted({name for turn in turns for name in turn.optimal})
        names += sorted({turn.action for turn in turns if turn.action} - {*names})
        optimal = np.array([[name in turn.optimal for name in names] for turn in turns])
        # The largest of random numbers among the optimal ones.
        example = (rng.random(optimal.shape) * optimal).argmax(axis=1)
        action = [
            names.index(turn.action) if turn.action else UNUSABLE for turn in turns
        ]
        return cls(
            side=side,
            cells=cells.reshape(len(turns), -1),
            optimal=optimal,
            example=example,
            action=np.array(action),
        )


def splits_of(
    n_turns: int, number: int, rng: np.random.Generator
) -> list[tuple[Indices, Indices]]:
    """Random splits of the turns, each of another world, into training and test."""
    n_test = max(1, round(TEST_SHARE * n_turns))
    orders = [rng.permutation(n_turns) for _ in range(number)]
    return [(order[n_test:], order[:n_test]) for order in orders]


@one_thread()
def read(
    inputs: ByEvent, truth: Truth, splits: Sequence[tuple[Indices, Indices]]
) -> dict[str, Doubles]:
    """Fit readers in the training worlds of each split and score them in the others.

    Returns:
        (splits, things, N) whether each thing of `THINGS` is found, by event; NaN in
        training worlds and in turns without the event.
    """
    found = {}
    for event in EVENTS:
        if event not in inputs:
            continue
        hits = np.full((len(splits), len(THINGS), len(truth.action)), np.nan)
        is_there: Bools = np.asarray(np.isfinite(inputs[event]).all(axis=1))
        for of_split, (train, test) in zip(hits, splits, strict=True):
            fitted, tested = train[is_there[train]], test[is_there[test]]
            if len(fitted) > 1 and len(tested):
                of_split[:, tested] = _hits(inputs[event], truth, fitted, tested)
        found[event] = hits
    return found


def _hits(inputs: Floats, truth: Truth, train: Indices, test: Indices) -> Doubles:
    """(things, tests) whether each thing is found."""
    places = _places(inputs, truth, train, test)
    cells = truth.cells[test]
    agent, goal = (
        np.take_along_axis(cells == thing, places[:, thing, None], axis=1)[:, 0]
        for thing in (AGENT, GOAL)
    )
    optimal = _actions(inputs, truth.example, train, test)
    usable = train[truth.action[train] != UNUSABLE]
    taken = _actions(inputs, truth.action, usable, test)
    return np.array(
        [
            agent,
            goal,
            (agent.astype(float) + goal) / 2,
            truth.optimal[test, optimal],
            taken == truth.action[test],
        ]
    )


def _places(inputs: Floats, truth: Truth, train: Indices, test: Indices) -> Codes:
    """(tests, 2) the likeliest cells of agent and goal."""
    walls = [WALL] if WALL in truth.cells else []
    reader = fit_reader(
        inputs[train], truth.cells[train], walls, truth.side, train.astype(str)
    )
    maps = reader.probabilities(inputs[test], (truth.side, truth.side))
    flat = maps.reshape(len(test), -1, maps.shape[-1])
    likeliest: Codes = flat[..., [AGENT, GOAL]].argmax(axis=1)
    return likeliest


def _actions(inputs: Floats, codes: Codes, train: Indices, test: Indices) -> Codes:
    """(tests,) the likeliest actions."""
    targets = np.eye(int(codes.max()) + 1)[codes[train]]
    reader = fit_linear(inputs[train], targets, train.astype(str), PENALTIES)
    likeliest: Codes = reader.outputs(inputs[test], ())[:, 0].argmax(axis=-1)
    return likeliest
