"""A calibrated linear reader of maps, in closed form.

Of a thing that is on every map once, such as the agent, ridge regression gives each row
and each column a score. Softmax makes probabilities of them, and row times column a
distribution over the cells. So the thing need not have been seen in a cell to be found
there: few worlds suffice.

Of the other classes, such as walls, each cell has log odds: those of its base rate, plus
a slope times the deviation that the activations predict. Activations that say nothing
leave the base rate.

Penalties, temperatures and slope are those of the least log loss in left-out training
worlds, so the reader is as sure as it is right.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Self

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import softmax

from gde_plugins.probes.arrays import Bools, Codes, Doubles, Floats, Indices, Worlds
from gde_plugins.probes.fitting.one_thread import one_thread
from gde_plugins.probes.fitting.ridge import (
    WITHIN,
    Components,
    RidgeFits,
    calibrated,
    rows_of_worlds,
)
from gde_plugins.probes.fitting.weights import z_scored

PENALTIES = tuple(10.0**power for power in range(2, -9, -2))
"""Of the mean square of a principal component; of equally good ones the largest is
taken.
"""
SLOPES = (0.0, 20.0)
"""Bounds of the slope of log odds on predicted deviations, which are at most 1."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReaderWeights:
    """Parameters for D activations, K things and O other classes in F cells of a square
    with a given side.
    """

    mean: Floats
    """(D,) of the activations in training."""
    scale: Floats
    """(D,) standard deviations, 1 where an activation never varies."""
    things: Codes
    """(K,) classes, among C."""
    others: Codes
    """(O,) the other classes."""
    by_side: Floats
    """(D, K, 2, side) weights of rows and columns, divided by their temperatures."""
    side_bias: Floats
    """(K, 2, side)."""
    is_open: Floats
    """(F,) 1 for the cells in which a training map has no wall, where things may be."""
    by_cell: Floats
    """(D, F, O)."""
    cell_bias: Floats
    """(F, O)."""

    def arrays(self) -> dict[str, Floats]:
        """All parameters by name."""
        return {
            each.name: getattr(self, each.name).astype(np.float32)
            for each in fields(self)
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Floats]) -> Self:
        """The inverse of `arrays`; other names are ignored."""
        own = {each.name: arrays[each.name] for each in fields(cls)}
        things = own.pop("things").astype(np.int64)
        others = own.pop("others").astype(np.int64)
        return cls(things=things, others=others, **own)

    def probabilities(self, inputs: Floats, shape: tuple[int, ...]) -> Floats:
        """(N, *shape, C) of every cell's classes. Those of a thing sum to 1 over the
        cells; the others share what the things leave of a cell, if anything.
        """
        scored = (inputs - self.mean) / self.scale
        n_turns = len(inputs)
        found = np.zeros((n_turns, len(self.is_open), self._n_classes), np.float32)

        sides = np.tensordot(scored, self.by_side, axes=1) + self.side_bias
        row, column = np.moveaxis(softmax(sides, axis=-1), 2, 0)
        of_things = row[..., :, None] * column[..., None, :]
        shaped = of_things.reshape(n_turns, len(self.things), len(self.is_open))
        of_things = shaped * self.is_open
        totals = of_things.sum(axis=-1, keepdims=True)
        of_things = np.divide(
            of_things, totals, out=np.zeros_like(of_things), where=totals > 0
        )
        found[..., self.things] = np.moveaxis(of_things, 1, 2)

        left = 1 - of_things.sum(axis=1).clip(max=1)
        logits = np.tensordot(scored, self.by_cell, axes=1) + self.cell_bias
        found[..., self.others] = left[..., None] * softmax(logits, axis=-1)
        return found.reshape(n_turns, *shape, -1)

    @property
    def _n_classes(self) -> int:
        return len(self.things) + len(self.others)


@one_thread()
def fit_reader(
    inputs: Floats, codes: Codes, walls: Sequence[int], side: int, worlds: Worlds
) -> ReaderWeights:
    """Fit the reader to activations as captured.

    Args:
        inputs: (N, D).
        codes: (N, F) classes of cells, 0 to C - 1, each of which occurs.
        walls: classes whose cells can hold no thing.
        side: of the square of F cells.
        worlds: (N,) of which one at a time is left out.

    Raises:
        ValueError: fewer than two worlds.
    """
    rows = rows_of_worlds(worlds)
    mean, scale, scored = z_scored(inputs)
    of_class = np.eye(int(codes.max()) + 1, dtype=bool)[codes]
    is_thing = (of_class.sum(axis=1) == 1).all(axis=0)
    is_thing[[*walls]] = False
    things, others = np.flatnonzero(is_thing), np.flatnonzero(~is_thing)

    cells = of_class[..., things].argmax(axis=1)
    # (N, K, 2) row and column of each thing.
    places = np.stack(np.divmod(cells, side), axis=-1)
    is_closed = of_class[..., [*walls]].any(axis=-1)
    is_open: Bools = np.asarray(~is_closed.all(axis=0))
    square = is_open.reshape(side, side)
    open_sides = np.stack([square.any(axis=1), square.any(axis=0)])
    components = Components.of(scored)
    sides = _Sides.fit(components, places, open_sides, rows)
    is_other = of_class[..., others]
    kinds = _Kinds.fit(components, is_other, rows)

    centre = scored.mean(axis=0)
    return ReaderWeights(
        mean=mean,
        scale=scale,
        things=things.astype(np.int64),
        others=others.astype(np.int64),
        by_side=sides.weights.astype(np.float32),
        side_bias=_at_zero(sides.level, centre, sides.weights),
        is_open=is_open.astype(np.float32),
        by_cell=kinds.weights.astype(np.float32),
        cell_bias=_at_zero(kinds.level, centre, kinds.weights),
    )


def _at_zero(level: Doubles, centre: Doubles, weights: Doubles) -> Floats:
    """The scores of zero inputs, of which those of the mean input are the level."""
    return np.asarray(level - np.tensordot(centre, weights, axes=1), np.float32)


@dataclass(frozen=True, eq=False)
class _Scores:
    """Linear scores: `level` at the mean of the inputs."""

    weights: Doubles
    """(D, ...)."""
    level: Doubles


class _Sides(_Scores):
    """Log probabilities of rows and columns, but for a constant."""

    @classmethod
    def fit(
        cls,
        inputs: Components,
        places: Codes,
        is_open: Bools,
        rows: Sequence[Indices],
    ) -> Self:
        """Fit scores of the rows and columns, of which those that are open (2, side) can
        be chosen.
        """
        side = is_open.shape[1]
        fits = RidgeFits(inputs, np.eye(side)[places])
        shape = places.shape[1:]
        least = np.full(shape, np.inf)
        weights = np.zeros((inputs.axes.shape[1], *shape, side))
        level = np.zeros((*shape, side))
        for penalty in PENALTIES:
            size = penalty * fits.mean_square
            left_out = fits.left_out(size, rows)
            for one in np.ndindex(shape):
                among = is_open[one[1]]
                codes = among.cumsum()[places[:, *one]] - 1
                temperature, loss = calibrated(left_out[:, *one][:, among], codes)
                if loss < least[one]:
                    least[one] = loss
                    weights[:, *one] = fits.weights(size)[:, *one] / temperature
                    level[one] = fits.level[one] / temperature
        return cls(weights, level)


class _Kinds(_Scores):
    """Log odds of the classes of a cell that no thing is in."""

    @classmethod
    def fit(cls, inputs: Components, is_other: Bools, rows: Sequence[Indices]) -> Self:
        counts = is_other.sum(axis=0)
        # Half a turn more of each class: none is impossible.
        base = np.log(counts + 0.5) - np.log((counts + 0.5).sum(axis=-1, keepdims=True))
        varies = (counts > 0).sum(axis=-1) > 1
        weights = np.zeros((inputs.axes.shape[1], *counts.shape))
        if varies.any():
            fits = RidgeFits(inputs, is_other[:, varies].astype(np.float64))
            best = np.inf
            for penalty in PENALTIES:
                size = penalty * fits.mean_square
                deviations = fits.left_out(size, rows) - fits.level
                slope, loss = _slope(deviations, base[varies], is_other[:, varies])
                if loss < best:
                    best = loss
                    weights[:, varies] = slope * fits.weights(size)
        return cls(weights, base)


def _slope(deviations: Doubles, base: Doubles, is_other: Bools) -> tuple[float, float]:
    """The slope of least log loss, and that loss, over the cells without things."""
    counts = is_other.any(axis=-1)
    n_cells = max(int(counts.sum()), 1)

    # Classes first: NumPy adds along a short last axis slowly.
    rising = np.ascontiguousarray(np.moveaxis(deviations, -1, 0))
    at_zero = np.moveaxis(base, -1, 0)[:, None]

    def loss(slope: float) -> float:
        scores = at_zero + slope * rising
        # Below the largest score, so that none overflows.
        scores -= scores.max(axis=0)
        totals = np.log(np.exp(scores).sum(axis=0))
        true = np.moveaxis(scores, 0, -1)[is_other]
        return float((totals[counts].sum() - true.sum()) / n_cells)

    found = minimize_scalar(loss, bounds=SLOPES, method="bounded", options=WITHIN)
    return float(found.x), float(found.fun)
