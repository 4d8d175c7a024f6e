"""The metric `maps`: decoded maps of first turns, scored as published."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from gde.data.cell_map import PAD
from gde.data.evidence import Evidence
from gde.data.measure import Measures
from gde.data.result import Measurement
from gde.numerics.episodes import unmeasured
from gde.seeding import generator
from gde_plugins.probes.arrays import CELLS, Bools, Codes, Doubles, Floats
from gde_plugins.probes.maps.against_controls import Measured, against_controls
from gde_plugins.probes.maps.estimates import Scores
from gde_plugins.probes.maps.held_out import DecodedTurns, decoded_turns, true_map
from gde_plugins.probes.maps.scores import (
    class_frequencies,
    distances,
    likeliest_on_map,
    of_known,
)
from gde_plugins.probes.measures import FIRST_MAPS

THINGS = ("agent", "goal")
"""Classes that are in one cell of every map."""
NONE_DECODED = "no probe decoded maps; add the probe cogmap"


def maps(evidence: Evidence) -> Sequence[Measurement]:
    """Score every fit of a map probe as in Arghal et al. (2026), section 5.1.

    - "maps.accuracy", "maps.recall.CLASS" and "maps.precision.CLASS": over the cells of
      the true map, of the likeliest class but padding.
    - "maps.top1", "maps.distance" and "maps.spread" of agent and goal: as of the probe
      `cogmap`.
    - "maps.accuracy.majority": of a reader who names each cell's commonest class in the
      first turns of training.
    - "maps.worlds": the number of worlds trained on.
    All but the last also by size and by density. Accuracy and top-1 are tested
    against controls. Every n counts turns. A class that was never trained on has a
    reason instead of numbers. Probes are fitted to whole runs, so parts of a run have
    no such numbers.
    """
    if evidence.part:
        return ()

    # The published scores are of first turns alone.
    fits = []
    for turns in decoded_turns(evidence):
        is_first = np.array([turn.index == 0 for turn in turns.turns])
        first_turns = turns.take(is_first)
        if first_turns.turns:
            fits.append(first_turns)
    if not fits:
        return [unmeasured("maps.accuracy", NONE_DECODED)]

    seed = evidence.seed
    measure = partial(_measured, seed=seed)
    found = against_controls(fits, measure, Measures(FIRST_MAPS), seed)
    for fit in fits:
        for part in fit.parts():
            found += part.under(_scores(part, seed))
        if not fit.is_control:
            found += _majority(fit, evidence)
    return found


def _measured(fit: DecodedTurns, seed: int) -> Measured:
    """The scores of all turns, of which those for all cells and places are tested."""
    scores = {}
    for suffix, has_cells, shares in _shares_right(fit):
        thing = suffix.lstrip(".")
        if has_cells.any() and thing not in fit.unknown:
            name = f"maps.top1.{thing}" if thing else "maps.accuracy"
            scores[name] = np.where(has_cells, shares, np.nan)
    return Measured(measurements=_scores(fit, seed), scores=scores)


def _majority(fit: DecodedTurns, evidence: Evidence) -> Iterator[Measurement]:
    """The baseline without activations, which is the same for all fits: it is scored
    once.
    """
    n_worlds, prior = _training_prior(fit, evidence)
    worlds = Measurement(name="maps.worlds", value=float(n_worlds), n=n_worlds)
    yield from fit.under([worlds])
    for part in (fit, *fit.parts()):
        yield from part.under(_majority_scores(part, prior, evidence.seed))


def _scores(fit: DecodedTurns, seed: int) -> list[Measurement]:
    """Return the scores of every class, and of the places of agent and goal.

    They are of the true map's cells.
    """
    labels = fit.labels
    rng = generator(seed, "metric", "maps", *labels)
    scores = Scores(fit.groups, rng)

    named = likeliest_on_map(fit.decoded, fit.classes)
    right, on_map = _right(fit, named)
    scores.share("maps.accuracy", right, on_map, "")

    for code, name in enumerate(fit.classes):
        if name == PAD:
            continue
        true = fit.cells == code
        called = (named == code) & on_map
        absent = f"no {name} cell on the held-out maps"
        scores.share(f"maps.recall.{name}", right & true, true, absent)
        uncalled = f"no cell was decoded as {name}"
        scores.share(f"maps.precision.{name}", right & called, called, uncalled)

    # Places are scored as the probe itself scores them: over all cells, padding
    # included.
    likeliest = fit.decoded.argmax(axis=-1)
    size = fit.cells.shape[1]
    located = Scores(fit.groups, rng)
    for name in THINGS:
        code = fit.classes.index(name)
        true = fit.cells == code
        present = true.any(axis=CELLS)
        misses = distances(fit.decoded, fit.cells, code)
        located.located(name, misses, present, size)
        located.spread(name, likeliest == code, true, size)

    measurements = scores.measurements + located.under("maps")
    return of_known(measurements, fit.unknown)


def _training_prior(fit: DecodedTurns, evidence: Evidence) -> tuple[int, Floats]:
    """Return the number of training worlds and the class frequencies in first turns.

    The frequencies are (size, size, C).
    """
    held_out = set(fit.groups.tolist())
    size = fit.cells.shape[1]
    worlds = set()
    first_maps = []
    for trajectory in evidence.trajectories:
        world = trajectory.world.cluster
        if not trajectory.turns or world in held_out:
            continue

        worlds.add(world)
        first = trajectory.turns[0]
        if first.state is not None:
            cells = true_map(trajectory, first, size)
            first_maps.append(cells)

    n_classes = len(fit.classes)
    if not first_maps:
        return 0, np.zeros((size, size, n_classes), dtype=np.float32)
    return len(worlds), class_frequencies(np.array(first_maps), n_classes)


def _majority_scores(fit: DecodedTurns, prior: Floats, seed: int) -> list[Measurement]:
    """Return the accuracy of naming each cell's most frequent class in training."""
    rng = generator(seed, "metric", "maps", "majority")
    scores = Scores(fit.groups, rng)

    right, on_map = _right(fit, likeliest_on_map(prior, fit.classes))
    scores.share("maps.accuracy.majority", right, on_map, "")
    return scores.measurements


def _right(fit: DecodedTurns, named: Codes) -> tuple[Bools, Bools]:
    """Return which cells are named rightly, and which are on the map."""
    on_map: Bools = fit.cells != fit.classes.index(PAD)
    right: Bools = (named == fit.cells) & on_map
    return right, on_map


def _shares_right(fit: DecodedTurns) -> Iterator[tuple[str, Bools, Doubles]]:
    """Return the shares of correct answers for all cells, agent and goal.

    Each has the suffix of its name, (N,) whether a map has such cells, and the (N,)
    share.
    """
    named = likeliest_on_map(fit.decoded, fit.classes)
    right, on_map = _right(fit, named)
    n_right = right.sum(axis=CELLS)
    n_cells = on_map.sum(axis=CELLS)
    yield "", n_cells > 0, n_right / n_cells

    for name in THINGS:
        code = fit.classes.index(name)
        has_thing = (fit.cells == code).any(axis=CELLS)
        is_found = distances(fit.decoded, fit.cells, code) == 0
        yield f".{name}", has_thing, is_found.astype(float)
