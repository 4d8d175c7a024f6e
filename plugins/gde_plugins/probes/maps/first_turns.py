"""The metric `maps`: decoded maps scored as published, first turns alone, on the true map, padding not chosen."""

from collections.abc import Iterator, Sequence

import numpy as np

from gde.data.cell_map import PAD
from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.numerics.episodes import unmeasured
from gde.numerics.stats import paired_difference
from gde.seeding import generator
from gde_plugins.probes.arrays import Bools, Doubles, Floats
from gde_plugins.probes.maps.estimates import Scores
from gde_plugins.probes.maps.held_out import DecodedTurns, decoded_turns, true_map
from gde_plugins.probes.maps.scores import distances, likeliest_on_map, of_known

NONE_DECODED = "no probe decoded maps; choose --probe cogmap"


def maps(evidence: Evidence) -> Sequence[Measurement]:
    """The numbers on cognitive maps that Arghal et al. (2026), section 5.1, print, for every fit of a probe of maps.

    - "maps.accuracy", "maps.recall.CLASS" and "maps.precision.CLASS": over the cells of the true map, of the likeliest
      class but padding.
    - "maps.top1", "maps.distance" and "maps.spread" of agent and goal: as of the probe `cogmap`.
    - "maps.accuracy.majority": of a reader who names each cell's commonest class in the first turns of training.
    - "maps.worlds": the number of worlds trained on.
    - "maps.selectivity", "maps.selectivity.CLASS": accuracy, or top-1 of agent and goal, less that of the same probe
      fitted to shuffled labels.

    All but the last two also by size and by density. Every n counts turns. A class that was never trained on has a
    reason instead of numbers. Probes are fitted to whole runs, so parts of a run have no such numbers.

    Selectivity is not that of Hewitt and Liang (2019, section 2), who score the control probe on the control task,
    whose labels are fixed for each type of input. Here the type is the world, and no held-out world was trained on, so
    a control label is known no better than a true one. It measures what the activations add to the frequencies of
    labels, and not how much a probe can memorise.
    """
    if evidence.part:
        return ()
    fits = []
    for turns in decoded_turns(evidence):
        is_first = np.array([turn.index == 0 for turn in turns.turns])
        fits.append(turns.take(is_first))
    fits = [fit for fit in fits if fit.turns]
    if not fits:
        return [unmeasured("maps.accuracy", "share", NONE_DECODED)]

    measurements: list[Measurement] = []
    for fit in fits:
        measurements += _measured(fit, evidence)
        measurements += _selectivity(fit, fits, evidence)
    return measurements


def _measured(fit: DecodedTurns, evidence: Evidence) -> Iterator[Measurement]:
    parts = [fit, *fit.parts()]
    for part in parts:
        yield from part.under(_scores(part, evidence.seed))
    if fit.where["fit"] == "none":
        worlds, prior = _training_prior(fit, evidence)
        yield from fit.under([Measurement(name="maps.worlds", value=float(worlds), unit="count", n=worlds)])
        for part in parts:
            yield from part.under(_majority_scores(part, prior, evidence.seed))


def _scores(fit: DecodedTurns, seed: int) -> list[Measurement]:
    scores = Scores(fit.groups, generator(seed, "metric", "maps", *map(str, fit.where.values())))
    named = likeliest_on_map(fit.decoded, fit.classes)
    on_map = fit.cells != fit.classes.index(PAD)
    right = (named == fit.cells) & on_map
    scores.share("maps.accuracy", right, on_map, "")
    for code, name in enumerate(fit.classes):
        if name != PAD:
            true = fit.cells == code
            called = (named == code) & on_map
            scores.share(f"maps.recall.{name}", right & true, true, f"no {name} cell on the held-out maps")
            scores.share(f"maps.precision.{name}", right & called, called, f"no cell was decoded as {name}")

    size = int(on_map.any(axis=1).sum(axis=1).max())
    located = Scores(scores.groups, scores.rng)
    for name in ("agent", "goal"):
        code = fit.classes.index(name)
        true = fit.cells == code
        located.located(name, distances(fit.decoded, fit.cells, code), true.any(axis=(1, 2)), size)
        located.spread(name, fit.decoded.argmax(axis=-1) == code, true, size)
    return of_known([*scores.measurements, *located.under("maps")], fit.unknown)


def _training_prior(fit: DecodedTurns, evidence: Evidence) -> tuple[int, Floats]:
    """The number of training worlds, and (size, size, C) frequencies of classes in their first turns."""
    held_out = {*fit.groups.tolist()}
    size = fit.cells.shape[1]
    worlds = set()
    first_maps = []
    for trajectory in evidence.trajectories:
        if not trajectory.turns or trajectory.world.cluster in held_out:
            continue
        worlds.add(trajectory.world.cluster)
        first = trajectory.turns[0]
        if first.state is not None:
            first_maps.append(true_map(trajectory, first, size))
    if not first_maps:
        return 0, np.zeros((size, size, len(fit.classes)), dtype=np.float32)

    cells = np.array(first_maps)
    prior = [(cells == code).mean(axis=0) for code in range(len(fit.classes))]
    return len(worlds), np.stack(prior, axis=-1).astype(np.float32)


def _majority_scores(fit: DecodedTurns, prior: Floats, seed: int) -> list[Measurement]:
    """The accuracy of a reader who names each cell's commonest class in training."""
    scores = Scores(fit.groups, generator(seed, "metric", "maps", "majority"))
    named = np.broadcast_to(likeliest_on_map(prior, fit.classes), fit.cells.shape)
    on_map = fit.cells != fit.classes.index(PAD)
    scores.share("maps.accuracy.majority", (named == fit.cells) & on_map, on_map, "")
    return scores.measurements


def _selectivity(fit: DecodedTurns, fits: Sequence[DecodedTurns], evidence: Evidence) -> Iterator[Measurement]:
    """What a trained fit has right beyond the same probe fitted to shuffled labels, on the same turns."""
    if fit.where["fit"] != "none":
        return
    wanted = {**fit.where, "fit": "shuffled"}
    controls = [one for one in fits if one.where == wanted and len(one.turns) == len(fit.turns)]
    if not controls:
        return
    for (suffix, has_cells, ours), (_, _, theirs) in zip(_right(fit), _right(controls[0]), strict=True):
        name = f"maps.selectivity{suffix}"
        if not has_cells.any():
            reason = f"no {suffix.lstrip('.')} cell on the held-out maps"
            yield from fit.under([unmeasured(name, "share", reason)])
            continue
        rng = generator(evidence.seed, "metric", "maps", f"selectivity{suffix}", *map(str, fit.where.values()))
        difference = paired_difference(ours[has_cells], theirs[has_cells], fit.groups[has_cells], rng)
        measurement = difference.estimate.measurement(name, "share")
        yield from fit.under(of_known([measurement], fit.unknown))


def _right(fit: DecodedTurns) -> Iterator[tuple[str, Bools, Doubles]]:
    """For all cells, agent and goal: suffix of the name, (N,) which maps have such cells, (N,) share that is right."""
    on_map = fit.cells != fit.classes.index(PAD)
    right = (likeliest_on_map(fit.decoded, fit.classes) == fit.cells) & on_map
    yield "", on_map.any(axis=(1, 2)), right.sum(axis=(1, 2)) / on_map.sum(axis=(1, 2))
    for name in ("agent", "goal"):
        code = fit.classes.index(name)
        is_found = distances(fit.decoded, fit.cells, code) == 0
        yield f".{name}", (fit.cells == code).any(axis=(1, 2)), is_found.astype(np.float64)
