"""How well decoded maps agree with the true grids."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gde.data.cell_map import PAD
from gde.data.result import Measurement
from gde.numerics.episodes import unmeasured
from gde_plugins.probes.maps.estimates import Bools, Scores


def score_maps(
    decoded: NDArray[np.float32],
    cells: NDArray[np.int64],
    groups: NDArray[np.str_],
    classes: Sequence[str],
    rng: np.random.Generator,
    prior: NDArray[np.float32] | None = None,
) -> Sequence[Measurement]:
    """All scores of held-out maps, with intervals clustered by world.

    "recall.CLASS" and "precision.CLASS" of a cell's likeliest class, and "recall.interior.CLASS" and
    "precision.interior.CLASS" of those classes that border maps, such as walls, within the outermost cells; "accuracy"
    over all cells, padding included, "accuracy.interior" within the outermost cells, and "accuracy.grid" and
    "recall.macro" (the mean over classes) over the cells of the true map, padding not being chosen; "auc.CLASS", how
    often an interior cell of the class is given a higher probability of it than another of the same map; "brier" and
    "calibration" of the probabilities on the map; of each class that no map has twice, such as the agent,
    "top1.CLASS" and "distance.CLASS" (in cells, by the sum of rows and columns) of the one cell with its highest
    probability, and "spread.CLASS", the mean distance of all cells so classified (Arghal et al. 2026, section 5.1).
    Every n counts turns.

    Args:
        decoded: (N, size, size, C) class probabilities.
        cells: (N, size, size) true classes, as indices.
        groups: (N,) worlds.
        classes: the names of the C classes, as of `CellMap.classes`.
        rng: for resampling.
        prior: (size, size, C) how often each cell was of each class in training. With it come the scores of a reader
            without activations: ".majority" who names each cell's commonest class, ".constant" the commonest of all.
    """
    scores = Scores(groups, rng)
    on_map = cells != classes.index(PAD)
    inside = interior(on_map)
    right = _classes(scores, decoded.argmax(axis=-1), cells, classes, inside)
    scores.share("accuracy", right, np.ones_like(right), "nothing was held out")
    scores.share("accuracy.interior", right & inside, inside, NO_INTERIOR)
    named = likeliest_on_map(decoded, classes)
    _on_map(scores, "", named, cells, on_map, classes)
    _rankings(scores, decoded, cells, inside, classes)
    scores.brier(decoded, cells, on_map)
    if prior is not None:
        _baselines(scores, prior, cells, on_map, classes)
    size = int(on_map.any(axis=1).sum(axis=1).max())
    for code in _single(cells, classes):
        present = (cells == code).any(axis=(1, 2))
        scores.located(classes[code], distances(decoded, cells, code), present, size)
        scores.spread(classes[code], decoded.argmax(axis=-1) == code, cells == code, size)
    scores.calibration(decoded, cells, on_map)
    return scores.measurements


def of_known(found: Sequence[Measurement], unknown: Collection[str]) -> list[Measurement]:
    """The measurements, those of a class (the last part of their name) that was never trained on being a reason."""
    return [_never_trained(one) if one.name.rpartition(".")[2] in unknown else one for one in found]


def never_trained(name: str) -> str:
    """Why nothing can be said of a class."""
    return f"no {name} cell in the grids that were trained on"


def _never_trained(one: Measurement) -> Measurement:
    return replace(unmeasured(one.name, one.unit, never_trained(one.name.rpartition(".")[2])), where=one.where)


NO_INTERIOR = "no map has cells within its outermost ones"


def interior(mapped: Bools) -> Bools:
    """(N, size, size) True where a cell and all of its four neighbours belong to the map."""
    grid = np.pad(mapped, ((0, 0), (1, 1), (1, 1)))
    neighbours = (grid[:, :-2, 1:-1], grid[:, 2:, 1:-1], grid[:, 1:-1, :-2], grid[:, 1:-1, 2:])
    inside: Bools = np.logical_and.reduce((grid[:, 1:-1, 1:-1], *neighbours))
    return inside


def likeliest_on_map(decoded: NDArray[np.float32], classes: Sequence[str]) -> NDArray[np.intp]:
    """(...) likeliest class of each cell that is not padding, from (..., C)."""
    named: NDArray[np.intp] = np.delete(decoded, classes.index(PAD), axis=-1).argmax(axis=-1)
    return named + (named >= classes.index(PAD))


def _classes(
    scores: Scores, predicted: NDArray[np.intp], cells: NDArray[np.int64], classes: Sequence[str], inside: Bools
) -> Bools:
    """Recall and precision of every class; gives where the prediction is right."""
    right: Bools = predicted == cells
    for code, name in enumerate(classes):
        true, named = cells == code, predicted == code
        scores.share(f"recall.{name}", right & true, true, f"no {name} cell on the held-out maps")
        scores.share(f"precision.{name}", right & named, named, f"no cell was decoded as {name}")
        if name != PAD and (true & ~inside).any():
            within = inside & true, inside & named
            none = f"no {name} cell within the outermost cells of the held-out maps"
            scores.share(f"recall.interior.{name}", right & within[0], within[0], none)
            undecoded = f"no cell within the outermost ones was decoded as {name}"
            scores.share(f"precision.interior.{name}", right & within[1], within[1], undecoded)
    return right


def _on_map(
    scores: Scores,
    suffix: str,
    named: NDArray[np.intp],
    cells: NDArray[np.int64],
    on_map: Bools,
    classes: Sequence[str],
) -> None:
    right = named == cells
    scores.share(f"accuracy.grid{suffix}", right & on_map, on_map, "nothing was held out")
    kinds = [cells == code for code, name in enumerate(classes) if name != PAD and (cells == code).any()]
    scores.macro(f"recall.macro{suffix}", [right & kind for kind in kinds], kinds)


def _rankings(
    scores: Scores, decoded: NDArray[np.float32], cells: NDArray[np.int64], inside: Bools, classes: Sequence[str]
) -> None:
    for code, name in enumerate(classes):
        if name != PAD:
            scores.ranking(f"auc.{name}", decoded[..., code], (cells == code) & inside, (cells != code) & inside)


def _baselines(
    scores: Scores, prior: NDArray[np.float32], cells: NDArray[np.int64], on_map: Bools, classes: Sequence[str]
) -> None:
    """What a reader says who knows how often each cell is of each class, and nothing else."""
    inside = interior(on_map)
    by_cell = np.broadcast_to(likeliest_on_map(prior, classes), cells.shape)
    within = inside.any(axis=0)
    overall = prior[within].sum(axis=0) if within.any() else prior.sum(axis=(0, 1))
    for suffix, named in (
        (".majority", by_cell),
        (".constant", np.full(cells.shape, likeliest_on_map(overall, classes))),
    ):
        _on_map(scores, suffix, named, cells, on_map, classes)
        scores.share(f"accuracy.interior{suffix}", (named == cells) & inside, inside, NO_INTERIOR)


def _single(cells: NDArray[np.int64], classes: Sequence[str]) -> Iterator[int]:
    """The classes that no map has twice, hence of which one can say where they are. Padding never has a place."""
    for code, name in enumerate(classes):
        if name != PAD and (cells == code).sum(axis=(1, 2)).max(initial=0) <= 1:
            yield code


def distances(decoded: NDArray[np.float32], cells: NDArray[np.int64], code: int) -> NDArray[np.int64]:
    """(N,) rows plus columns between the likeliest and the true cell of a class; no meaning where it has none."""
    size = cells.shape[1]
    found = np.divmod(decoded[..., code].reshape(len(cells), -1).argmax(axis=1), size)
    truth = np.divmod((cells == code).reshape(len(cells), -1).argmax(axis=1), size)
    return np.asarray(np.abs(np.subtract(found, truth)).sum(axis=0))
