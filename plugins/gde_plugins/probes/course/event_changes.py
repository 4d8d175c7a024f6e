"""Changes of the token of one event: patching, steering and ablation, with controls."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from gde.data.activations import Intervention
from gde_plugins.probes.arrays import Bools, Floats
from gde_plugins.probes.causes.cases import Change
from gde_plugins.probes.causes.interventions import (
    Direction,
    Where,
    ablate,
    of_length,
    orthonormal,
    patch,
    random_direction,
    steer,
)
from gde_plugins.probes.course.trials import Trial

PATCH, STEER, ABLATE = "patch", "steer", "ablate"
SAME, PAIR, RANDOM, SHUFFLED = (
    "same move",
    "another pair",
    "random direction",
    "shuffled moves",
)
Made = tuple[Intervention, ...]
FEWEST = 5
"""Fewest turns of a move whose mean activation is taken."""


def patching(
    where: Where, trials: Sequence[Trial], stream: Floats, rng: np.random.Generator
) -> list[Change]:
    """Replace each turn's activation by its donor's.

    Controls: a donor of the turn's own move; one of a third move; and a random direction
    as far away as the donor.
    """
    apart = [stream[each.donor] - stream[each.turn] for each in trials]
    randoms = [
        stream[each.turn] + random_direction(away, rng)
        for each, away in zip(trials, apart, strict=True)
    ]
    by_control = {
        "": [stream[each.donor] for each in trials],
        SAME: [stream[each.same] for each in trials],
        PAIR: [stream[each.pair] for each in trials],
        RANDOM: randoms,
    }
    return _changes(PATCH, where, patch, by_control)


def steering(
    where: Where,
    trials: Sequence[Trial],
    stream: Floats,
    moves: Sequence[str | None],
    rng: np.random.Generator,
) -> list[Change]:
    """Add the difference of means from a turn's move to its donor's; none where a move of
    the trials has too few other turns.

    Controls, as long: the difference to a third move, and a random direction.
    """
    means = _means(stream, moves, _others(trials, stream))
    wanted = {
        moves[row] for each in trials for row in (each.turn, each.donor, each.pair)
    }
    if not wanted <= means.keys():
        return []
    own = [means[moves[each.turn]] for each in trials]
    towards = [
        means[moves[each.donor]] - mean for each, mean in zip(trials, own, strict=True)
    ]
    third = [
        of_length(way, means[moves[each.pair]] - mean)
        for each, mean, way in zip(trials, own, towards, strict=True)
    ]
    by_control = {
        "": towards,
        PAIR: third,
        RANDOM: [random_direction(each, rng) for each in towards],
    }
    return _changes(STEER, where, steer, by_control)


def ablation(
    where: Where,
    trials: Sequence[Trial],
    stream: Floats,
    moves: Sequence[str | None],
    rng: np.random.Generator,
) -> list[Change]:
    """Remove what differs between the means of moves; none where fewer than two have a
    mean.

    Control: what differs between the means of shuffled moves, in as many dimensions.
    """
    others = _others(trials, stream)
    rows = np.flatnonzero(others)
    shuffled = np.array(moves, dtype=object)
    shuffled[rows] = shuffled[rng.permutation(rows)]
    mean = stream[others].mean(axis=0) if len(rows) else stream[0]
    changes = []
    for control, of_moves in (("", moves), (SHUFFLED, shuffled.tolist())):
        means = [*_means(stream, of_moves, others).values()]
        if len(means) < 2:
            return []
        axes = orthonormal([each - means[0] for each in means[1:]])
        removed = ablate(where, axes, mean)
        changes.append(_change(ABLATE, where, control, [removed] * len(trials)))
    return changes


def _changes(
    name: str,
    where: Where,
    make: Callable[[Where, Direction], Made],
    by_control: Mapping[str, Sequence[Direction]],
) -> list[Change]:
    return [
        _change(name, where, control, [make(where, each) for each in vectors])
        for control, vectors in by_control.items()
    ]


def _change(name: str, where: Where, control: str, made: Sequence[Made]) -> Change:
    return Change(
        name=name, layer=where.layer, control=control, interventions=tuple(made)
    )


def _others(trials: Sequence[Trial], stream: Floats) -> Bools:
    """(N,) whether a turn has the event and is none of the changed ones: tested worlds
    must not make the directions that they test.
    """
    others: Bools = np.asarray(np.isfinite(stream).all(axis=(1, 2)))
    others[[each.turn for each in trials]] = False
    return others


def _means(
    stream: Floats, moves: Sequence[str | None], among: Bools
) -> dict[str | None, Direction]:
    """Move to the mean activation (1, width) of its turns."""
    means: dict[str | None, Direction] = {}
    for move in sorted({move for move in moves if move is not None}):
        chosen = among & np.array([each == move for each in moves])
        if chosen.sum() >= FEWEST:
            means[move] = stream[chosen].mean(axis=0)
    return means
