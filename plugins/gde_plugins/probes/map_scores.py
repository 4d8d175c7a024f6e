"""How well decoded maps agree with the true grids."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gde.data.grid import Cell
from gde.data.result import Measurement
from gde.numerics.stats import cluster_mean, cluster_share

LOCATED = (Cell.AGENT, Cell.GOAL)


def score_maps(
    decoded: NDArray[np.float32], cells: NDArray[np.int64], groups: NDArray[np.str_], rng: np.random.Generator
) -> Sequence[Measurement]:
    """All scores of held-out maps, with intervals clustered by world.

    "recall.CLASS" and "precision.CLASS" of a cell's likeliest class; "accuracy" over all cells, padding included, and
    "accuracy.interior" within the outer wall; "top1.agent", "top1.goal" and "distance.agent", "distance.goal" (in
    cells, by the sum of rows and columns) of the one cell with the highest probability of the class (Arghal et al.
    2026, section 5.1). Every n counts turns.

    Args:
        decoded: (N, size, size, 5) class probabilities.
        cells: (N, size, size) true `Cell` codes.
        groups: (N,) worlds.
        rng: for resampling.
    """
    scores = _Scores(groups, rng)
    predicted = decoded.argmax(axis=-1)
    right = predicted == cells
    for code in Cell:
        true, named, name = cells == code, predicted == code, code.name.lower()
        scores.share(f"recall.{name}", right & true, true, f"no {name} cell on the held-out maps")
        scores.share(f"precision.{name}", right & named, named, f"no cell was decoded as {name}")
    scores.share("accuracy", right, np.ones_like(right), "nothing was held out")
    inside = interior(cells)
    scores.share("accuracy.interior", right & inside, inside, "no grid has cells within its outer wall")
    for code in LOCATED:
        distances = _distances(decoded, cells, code)
        scores.located(code.name.lower(), distances, (cells == code).any(axis=(1, 2)))
    return scores.measurements


def interior(cells: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(N, size, size) True within the outer wall of the true grid: all four neighbours belong to the grid."""
    grid = np.pad(cells != Cell.PAD, ((0, 0), (1, 1), (1, 1)))
    neighbours = (grid[:, :-2, 1:-1], grid[:, 2:, 1:-1], grid[:, 1:-1, :-2], grid[:, 1:-1, 2:])
    inside: NDArray[np.bool_] = np.logical_and.reduce((grid[:, 1:-1, 1:-1], *neighbours))
    return inside


def _distances(decoded: NDArray[np.float32], cells: NDArray[np.int64], code: Cell) -> NDArray[np.int64]:
    """(N,) rows plus columns between the likeliest and the true cell of a class; no meaning where it has none."""
    size = cells.shape[1]
    found = np.divmod(decoded[..., code].reshape(len(cells), -1).argmax(axis=1), size)
    truth = np.divmod((cells == code).reshape(len(cells), -1).argmax(axis=1), size)
    return np.asarray(np.abs(np.subtract(found, truth)).sum(axis=0))


@dataclass
class _Scores:
    """Collects measurements that share their clusters and their randomness."""

    groups: NDArray[np.str_]
    rng: np.random.Generator

    def __post_init__(self) -> None:
        self.measurements: list[Measurement] = []

    def share(self, name: str, hits: NDArray[np.bool_], trials: NDArray[np.bool_], reason: str) -> None:
        """The share of cells (N, size, size) among those tried, or the reason why none was."""
        if not trials.any():
            self._nothing(name, "share", reason)
            return
        tried = trials.sum(axis=(1, 2))
        estimate = cluster_share(hits.sum(axis=(1, 2)), self.groups, self.rng, trials=tried)
        self.measurements.append(estimate.measurement(name, "share"))

    def located(self, name: str, distances: NDArray[np.int64], present: NDArray[np.bool_]) -> None:
        """How often the cell was found and how far it was missed, over the turns (N,) whose grid has it."""
        if not present.any():
            for score, unit in (("top1", "share"), ("distance", "cells")):
                self._nothing(f"{score}.{name}", unit, f"no {name} cell on the held-out maps")
            return
        misses, groups = distances[present], self.groups[present]
        self.measurements += [
            cluster_share(misses == 0, groups, self.rng).measurement(f"top1.{name}", "share"),
            cluster_mean(misses, groups, self.rng).measurement(f"distance.{name}", "cells"),
        ]

    def _nothing(self, name: str, unit: str, reason: str) -> None:
        self.measurements.append(Measurement(name=name, value=None, unit=unit, n=0, reason=reason))
