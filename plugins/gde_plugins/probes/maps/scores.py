"""Agreement of decoded maps with the true ones."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gde.data.cell_map import PAD
from gde.data.probe import Likelihoods
from gde.data.result import Measurement
from gde.numerics.episodes import unmeasured
from gde_plugins.probes.arrays import (
    CELLS,
    Bools,
    Codes,
    Doubles,
    Floats,
    Indices,
    Worlds,
)
from gde_plugins.probes.maps.estimates import Scores
from gde_plugins.probes.maps.policies import top

WALL = "wall"
CLOSED = (PAD, WALL)
"""Kinds of cells that hold no thing."""
NO_INTERIOR = "no map has cells within its outermost ones"


def score_maps(
    decoded: Floats,
    cells: Codes,
    groups: Worlds,
    classes: Sequence[str],
    rng: np.random.Generator,
    prior: Floats | None = None,
) -> Sequence[Measurement]:
    """All scores of held-out maps, with intervals over worlds. Every n counts turns.

    Of a cell's likeliest class (Arghal et al. 2026, section 5.1):

    - "recall.CLASS", "precision.CLASS"; with ".interior" within the outermost cells, of
      classes that border maps.
    - "accuracy" over all cells, padding included; "accuracy.interior" within the
      outermost cells.
    - "accuracy.grid", and "recall.macro", the mean over classes: on the true map,
      padding not chosen.

    Of its probabilities: "auc.CLASS", how often an interior cell of the class has a
    higher probability of it than another cell of the same map; "brier" and
    "calibration" on the map.

    Of a class that no map has twice, such as the agent: "top1.CLASS" and
    "distance.CLASS" (in cells, rows plus columns) of the one cell with its highest
    probability; "spread.CLASS", the mean distance of all cells decoded so.

    Args:
        decoded: (N, size, size, C) class probabilities.
        cells: (N, size, size) true classes, as indices.
        groups: (N,) worlds.
        classes: the names of the C classes, as of `CellMap.classes`.
        rng: for resampling.
        prior: (size, size, C) frequency of each class at each cell in training. With it
            come two readers without activations: ".majority" names each cell's
            commonest class, ".constant" the commonest of all.
    """
    scores = Scores(groups, rng)
    on_map = cells != classes.index(PAD)
    inside = interior(on_map)
    likeliest = decoded.argmax(axis=-1)

    # All scores draw from one generator, so their order is part of the numbers.
    _by_class(scores, likeliest, cells, classes, inside)
    right: Bools = likeliest == cells
    everywhere = np.ones_like(right)
    scores.share("accuracy", right, everywhere, "nothing was held out")
    scores.share("accuracy.interior", right & inside, inside, NO_INTERIOR)
    named = likeliest_on_map(decoded, classes)
    _on_map(scores, "", named, cells, on_map, classes)

    for code, name in enumerate(classes):
        if name == PAD:
            continue
        of_class = (cells == code) & inside
        others = (cells != code) & inside
        scores.ranking(f"auc.{name}", decoded[..., code], of_class, others)
    scores.brier(decoded, cells, on_map)

    if prior is not None:
        _baselines(scores, prior, cells, on_map, classes)

    # A place may be decoded outside the map.
    size = cells.shape[1]
    for code, name in enumerate(classes):
        true = cells == code
        if _has_one_place(name, true):
            missed_by = distances(decoded, cells, code)
            present = true.any(axis=CELLS)
            scores.located(name, missed_by, present, size)
            scores.spread(name, likeliest == code, true, size)
    scores.calibration(decoded, cells, on_map)
    return scores.measurements


def place_scores(
    decoded: Floats, cells: Codes, classes: Sequence[str]
) -> Mapping[str, Doubles]:
    """(N,) the miss of each thing with one place ("distance.NAME") and whether it is a
    hit ("top1.NAME"); NaN in turns without the thing.

    A class that was never trained on, whose probabilities (N, size, size, C) are 0, has
    none.
    """
    scores: dict[str, Doubles] = {}
    for code, name in enumerate(classes):
        true = cells == code
        present = true.any(axis=CELLS)
        is_decoded = decoded[..., code].any()
        if _has_one_place(name, true) and present.any() and is_decoded:
            missed_by = distances(decoded, cells, code)
            scores[f"distance.{name}"] = np.where(present, missed_by, np.nan)
            scores[f"top1.{name}"] = np.where(present, missed_by == 0, np.nan)
    return scores


def place_likelihoods(
    decoded: Floats, cells: Codes, classes: Sequence[str]
) -> Mapping[str, Likelihoods]:
    """(N, 1) the probability of the true cell of each thing with one place, from
    probabilities (N, size, size, C); uniform over the cells that may hold it.

    A probability of the cell follows from those of the class in all of these cells.
    """
    possible = possible_cells(cells, classes)
    uniform = 1 / possible.sum(axis=CELLS)
    found = {}
    for code, name in enumerate(classes):
        true = cells == code
        if _has_one_place(name, true):
            of_cells = np.where(possible, decoded[..., code].astype(np.float64), 0.0)
            total = of_cells.sum(axis=CELLS)
            at_truth = (of_cells * true).sum(axis=CELLS)
            # A class that training never showed has no probability anywhere.
            fitted = np.divide(at_truth, total, out=uniform.copy(), where=total > 0)
            present = true.any(axis=CELLS)
            of_turns = np.where(present, fitted, np.nan)
            found[name] = Likelihoods(
                fitted=of_turns[:, None], uniform=uniform[:, None]
            )
    return found


def possible_cells(cells: Codes, classes: Sequence[str]) -> Bools:
    """(N, size, size) True where a map of the same size has neither wall nor padding.

    Maps (N, size, size) of one size have the same padding.
    """
    on_map = cells != classes.index(PAD)
    closed = [code for code, name in enumerate(classes) if name in CLOSED]
    is_open = ~np.isin(cells, closed)
    # Maps are rectangles in a corner of the square.
    sizes = on_map[:, :, 0].sum(axis=1) * len(on_map[0]) + on_map[:, 0].sum(axis=1)
    found: Bools = np.zeros_like(on_map)
    for size in np.unique(sizes):
        found[sizes == size] = is_open[sizes == size].any(axis=0)
    return found


def wall_likelihoods(
    decoded: Floats, cells: Codes, classes: Sequence[str]
) -> Mapping[str, Likelihoods]:
    """(N, size * size) the probability of the truth whether a cell is a wall, from
    probabilities (N, size, size, C); uniform over yes and no.

    Only cells within the outermost ones count, which are walls anyway. NaN where no map
    has walls there.
    """
    if WALL not in classes:
        return {}
    inside = interior(cells != classes.index(PAD))
    code = classes.index(WALL)
    is_wall = cells == code
    if not (is_wall & inside).any():
        inside = np.zeros_like(inside)

    # No cell inside a map is padding, which is known.
    on_map = np.delete(decoded, classes.index(PAD), axis=-1).sum(
        axis=-1, dtype=np.float64
    )
    uniform = np.full(cells.shape, 0.5)
    wall = np.divide(decoded[..., code], on_map, out=uniform.copy(), where=on_map > 0)
    of_truth = np.where(is_wall, wall, 1 - wall)
    fitted = np.where(inside, of_truth, np.nan)
    n_turns = len(cells)
    return {
        WALL: Likelihoods(
            fitted=fitted.reshape(n_turns, -1), uniform=uniform.reshape(n_turns, -1)
        )
    }


def _has_one_place(name: str, true: Bools) -> bool:
    """Whether a class is a thing, which no map (N, size, size) has twice."""
    return name != PAD and int(true.sum(axis=CELLS).max(initial=0)) <= 1


def class_frequencies(maps: NDArray[Any], n_classes: int) -> Floats:
    """(size, size, C) share of the maps (N, size, size) in which a cell is of each
    class.
    """
    frequencies = [(maps == code).mean(axis=0) for code in range(n_classes)]
    return np.stack(frequencies, axis=-1).astype(np.float32)


def _by_class(
    scores: Scores,
    likeliest: Indices,
    cells: Codes,
    classes: Sequence[str],
    inside: Bools,
) -> None:
    """Add recall and precision of every class."""
    right = likeliest == cells
    for code, name in enumerate(classes):
        true = cells == code
        called = likeliest == code
        absent = f"no {name} cell on the held-out maps"
        scores.share(f"recall.{name}", right & true, true, absent)
        uncalled = f"no cell was decoded as {name}"
        scores.share(f"precision.{name}", right & called, called, uncalled)

        # Outermost cells are always walls, which a probe finds without reading
        # anything.
        borders = (true & ~inside).any()
        if borders and name != PAD:
            true = inside & true
            absent = f"no {name} cell within the outermost cells of the held-out maps"
            scores.share(f"recall.interior.{name}", right & true, true, absent)

            called = inside & called
            uncalled = f"no cell within the outermost ones was decoded as {name}"
            scores.share(f"precision.interior.{name}", right & called, called, uncalled)


def _on_map(
    scores: Scores,
    suffix: str,
    named: Indices,
    cells: Codes,
    on_map: Bools,
    classes: Sequence[str],
) -> None:
    """Add a baseline's accuracy and mean recall on the true map."""
    right = named == cells
    scores.share(
        f"accuracy.grid{suffix}", right & on_map, on_map, "nothing was held out"
    )

    present = []
    hits = []
    for code, name in enumerate(classes):
        of_class = cells == code
        if name != PAD and of_class.any():
            present.append(of_class)
            hits.append(right & of_class)
    scores.macro(f"recall.macro{suffix}", hits, present)


def _baselines(
    scores: Scores,
    prior: Floats,
    cells: Codes,
    on_map: Bools,
    classes: Sequence[str],
) -> None:
    """Add the scores of baselines that know only the class frequencies in training."""
    commonest = likeliest_on_map(prior, classes)
    by_cell = np.broadcast_to(commonest, cells.shape)

    # The border of a map is wall. Counted in, it would make wall the commonest class of
    # any map.
    inside = interior(on_map)
    within = inside.any(axis=0)
    if within.any():
        overall = prior[within].sum(axis=0)
    else:
        overall = prior.sum(axis=(0, 1))
    constant = np.full(cells.shape, likeliest_on_map(overall, classes))

    readers = {".majority": by_cell, ".constant": constant}
    for suffix, named in readers.items():
        _on_map(scores, suffix, named, cells, on_map, classes)
        right = named == cells
        scores.share(f"accuracy.interior{suffix}", right & inside, inside, NO_INTERIOR)


def of_known(
    measurements: Sequence[Measurement], unknown: Collection[str]
) -> list[Measurement]:
    """Replace the measurements of classes that were never trained on by a reason."""
    kept = []
    for one in measurements:
        name = one.name.rpartition(".")[2]
        reason = unmeasured(one.name, never_trained(name), one.where)
        kept.append(reason if name in unknown else one)
    return kept


def never_trained(name: str) -> str:
    """Return why a class has no scores."""
    return f"no {name} cell in the grids that were trained on"


def interior(mapped: Bools) -> Bools:
    """(N, size, size) True where a cell and all of its four neighbours belong to the
    map.
    """
    # Padded, so that the neighbours of the outermost cells exist and are off the map.
    inside = mapped.copy()
    grid = np.pad(mapped, ((0, 0), (1, 1), (1, 1)))
    for axis in CELLS:
        for shift in (1, -1):
            inside &= np.roll(grid, shift, axis)[:, 1:-1, 1:-1]
    return inside


def likeliest_on_map(decoded: Floats, classes: Sequence[str]) -> Indices:
    """(...) likeliest class of each cell that is not padding, from (..., C)."""
    pad = classes.index(PAD)
    named: Indices = np.delete(decoded, pad, axis=-1).argmax(axis=-1)
    # Classes after padding were counted one too low.
    return named + (named >= pad)


def distances(decoded: Floats, cells: Codes, code: int) -> Codes:
    """(N,) Manhattan distance of the likeliest to the true cell of a class; no meaning
    where a map has none.
    """
    # The top of truth values is the first true one, and (0, 0) where there is none.
    apart = top(decoded[..., code]) - top(cells == code)
    return np.asarray(np.abs(apart).sum(axis=1))
