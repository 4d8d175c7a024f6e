"""How well decoded maps agree with the true grids."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gde.data.cell_map import PAD
from gde.data.result import Measurement
from gde.numerics.stats import cluster_mean, cluster_share


def score_maps(
    decoded: NDArray[np.float32],
    cells: NDArray[np.int64],
    groups: NDArray[np.str_],
    classes: Sequence[str],
    rng: np.random.Generator,
) -> Sequence[Measurement]:
    """All scores of held-out maps, with intervals clustered by world.

    "recall.CLASS" and "precision.CLASS" of a cell's likeliest class; "accuracy" over all cells, padding included, and
    "accuracy.interior" within the outermost cells; and of each class that no map has twice, such as the agent,
    "top1.CLASS" and "distance.CLASS" (in cells, by the sum of rows and columns) of the one cell with its highest
    probability (Arghal et al. 2026, section 5.1). Every n counts turns.

    Args:
        decoded: (N, size, size, C) class probabilities.
        cells: (N, size, size) true classes, as indices.
        groups: (N,) worlds.
        classes: the names of the C classes, as of `CellMap.classes`.
        rng: for resampling.
    """
    scores = _Scores(groups, rng)
    predicted = decoded.argmax(axis=-1)
    right = predicted == cells
    for code, name in enumerate(classes):
        true, named = cells == code, predicted == code
        scores.share(f"recall.{name}", right & true, true, f"no {name} cell on the held-out maps")
        scores.share(f"precision.{name}", right & named, named, f"no cell was decoded as {name}")
    scores.share("accuracy", right, np.ones_like(right), "nothing was held out")
    inside = interior(cells != classes.index(PAD))
    scores.share("accuracy.interior", right & inside, inside, "no map has cells within its outermost ones")
    for code in _single(cells, classes):
        scores.located(classes[code], _distances(decoded, cells, code), (cells == code).any(axis=(1, 2)))
    return scores.measurements


def interior(mapped: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(N, size, size) True where a cell and all of its four neighbours belong to the map."""
    grid = np.pad(mapped, ((0, 0), (1, 1), (1, 1)))
    neighbours = (grid[:, :-2, 1:-1], grid[:, 2:, 1:-1], grid[:, 1:-1, :-2], grid[:, 1:-1, 2:])
    inside: NDArray[np.bool_] = np.logical_and.reduce((grid[:, 1:-1, 1:-1], *neighbours))
    return inside


def _single(cells: NDArray[np.int64], classes: Sequence[str]) -> Iterator[int]:
    """The classes that no map has twice, hence of which one can say where they are. Padding never has a place."""
    for code, name in enumerate(classes):
        if name != PAD and (cells == code).sum(axis=(1, 2)).max(initial=0) <= 1:
            yield code


def _distances(decoded: NDArray[np.float32], cells: NDArray[np.int64], code: int) -> NDArray[np.int64]:
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
