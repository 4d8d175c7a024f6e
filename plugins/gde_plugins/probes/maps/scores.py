"""How well decoded maps agree with the true ones."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np

from gde.data.cell_map import PAD
from gde.data.result import Measurement
from gde.numerics.episodes import unmeasured
from gde_plugins.probes.arrays import Bools, Codes, Floats, Indices, Worlds
from gde_plugins.probes.maps.estimates import Scores

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

    - "recall.CLASS", "precision.CLASS"; with ".interior" within the outermost cells, of classes that border maps.
    - "accuracy" over all cells, padding included; "accuracy.interior" within the outermost cells.
    - "accuracy.grid", and "recall.macro", the mean over classes: on the true map, padding not chosen.

    Of its probabilities: "auc.CLASS", how often an interior cell of the class has a higher probability of it than
    another cell of the same map; "brier" and "calibration" on the map.

    Of a class that no map has twice, such as the agent: "top1.CLASS" and "distance.CLASS" (in cells, rows plus
    columns) of the one cell with its highest probability; "spread.CLASS", the mean distance of all cells decoded so.

    Args:
        decoded: (N, size, size, C) class probabilities.
        cells: (N, size, size) true classes, as indices.
        groups: (N,) worlds.
        classes: the names of the C classes, as of `CellMap.classes`.
        rng: for resampling.
        prior: (size, size, C) frequency of each class at each cell in training. With it come two readers without
            activations: ".majority" names each cell's commonest class, ".constant" the commonest of all.
    """
    scores = Scores(groups, rng)
    on_map = cells != classes.index(PAD)
    inside = interior(on_map)
    likeliest = decoded.argmax(axis=-1)

    _by_class(scores, likeliest, cells, classes, inside)
    right: Bools = likeliest == cells
    scores.share("accuracy", right, np.ones_like(right), "nothing was held out")
    scores.share("accuracy.interior", right & inside, inside, NO_INTERIOR)
    _on_map(scores, "", likeliest_on_map(decoded, classes), cells, on_map, classes)

    for code, name in enumerate(classes):
        if name != PAD:
            scores.ranking(f"auc.{name}", decoded[..., code], (cells == code) & inside, (cells != code) & inside)
    scores.brier(decoded, cells, on_map)

    if prior is not None:
        _baselines(scores, prior, cells, on_map, classes)

    size = int(on_map.any(axis=1).sum(axis=1).max())
    for code in _single(cells, classes):
        present = (cells == code).any(axis=(1, 2))
        scores.located(classes[code], distances(decoded, cells, code), present, size)
        scores.spread(classes[code], likeliest == code, cells == code, size)
    scores.calibration(decoded, cells, on_map)
    return scores.measurements


def _by_class(scores: Scores, likeliest: Indices, cells: Codes, classes: Sequence[str], inside: Bools) -> None:
    """Add recall and precision of every class."""
    right = likeliest == cells
    for code, name in enumerate(classes):
        true = cells == code
        called = likeliest == code
        scores.share(f"recall.{name}", right & true, true, f"no {name} cell on the held-out maps")
        scores.share(f"precision.{name}", right & called, called, f"no cell was decoded as {name}")

        # Outermost cells are always walls, which a probe finds without reading anything.
        if name != PAD and (true & ~inside).any():
            true = inside & true
            absent = f"no {name} cell within the outermost cells of the held-out maps"
            scores.share(f"recall.interior.{name}", right & true, true, absent)
            called = inside & called
            uncalled = f"no cell within the outermost ones was decoded as {name}"
            scores.share(f"precision.interior.{name}", right & called, called, uncalled)


def _on_map(scores: Scores, suffix: str, named: Indices, cells: Codes, on_map: Bools, classes: Sequence[str]) -> None:
    """Add the accuracy and mean recall of a reader on the true map."""
    right = named == cells
    scores.share(f"accuracy.grid{suffix}", right & on_map, on_map, "nothing was held out")
    kinds = [cells == code for code, name in enumerate(classes) if name != PAD]
    present = [kind for kind in kinds if kind.any()]
    scores.macro(f"recall.macro{suffix}", [right & kind for kind in present], present)


def _baselines(scores: Scores, prior: Floats, cells: Codes, on_map: Bools, classes: Sequence[str]) -> None:
    """Add the scores of readers who know nothing but the frequencies of classes in training."""
    inside = interior(on_map)
    by_cell = np.broadcast_to(likeliest_on_map(prior, classes), cells.shape)
    within = inside.any(axis=0)
    overall = prior[within].sum(axis=0) if within.any() else prior.sum(axis=(0, 1))
    everywhere = np.full(cells.shape, likeliest_on_map(overall, classes))

    for suffix, named in ((".majority", by_cell), (".constant", everywhere)):
        _on_map(scores, suffix, named, cells, on_map, classes)
        scores.share(f"accuracy.interior{suffix}", (named == cells) & inside, inside, NO_INTERIOR)


def _single(cells: Codes, classes: Sequence[str]) -> Iterator[int]:
    """The classes that no map has twice, padding excepted: a thing of them has one place."""
    for code, name in enumerate(classes):
        if name != PAD and (cells == code).sum(axis=(1, 2)).max(initial=0) <= 1:
            yield code


def of_known(measurements: Sequence[Measurement], unknown: Collection[str]) -> list[Measurement]:
    """Replace the measurements of classes that were never trained on by a reason."""
    kept = []
    for one in measurements:
        name = one.name.rpartition(".")[2]
        if name in unknown:
            reason = unmeasured(one.name, one.unit, never_trained(name))
            kept.append(replace(reason, where=one.where))
        else:
            kept.append(one)
    return kept


def never_trained(name: str) -> str:
    """Why nothing can be said of a class."""
    return f"no {name} cell in the grids that were trained on"


def interior(mapped: Bools) -> Bools:
    """(N, size, size) True where a cell and all of its four neighbours belong to the map."""
    grid = np.pad(mapped, ((0, 0), (1, 1), (1, 1)))
    above = grid[:, :-2, 1:-1]
    below = grid[:, 2:, 1:-1]
    left = grid[:, 1:-1, :-2]
    right = grid[:, 1:-1, 2:]
    inside: Bools = mapped & above & below & left & right
    return inside


def likeliest_on_map(decoded: Floats, classes: Sequence[str]) -> Indices:
    """(...) likeliest class of each cell that is not padding, from (..., C)."""
    pad = classes.index(PAD)
    named: Indices = np.delete(decoded, pad, axis=-1).argmax(axis=-1)
    return named + (named >= pad)


def distances(decoded: Floats, cells: Codes, code: int) -> Codes:
    """(N,) Manhattan distance of the likeliest to the true cell of a class; no meaning where a map has none."""
    size = cells.shape[1]
    found = np.divmod(decoded[..., code].reshape(len(cells), -1).argmax(axis=1), size)
    truth = np.divmod((cells == code).reshape(len(cells), -1).argmax(axis=1), size)
    return np.asarray(np.abs(np.subtract(found, truth)).sum(axis=0))
