"""Decoded maps scored as published: the first turn of each episode, the cells of the true grid, padding not chosen."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from gde.data.cell_map import PAD
from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.numerics.episodes import unmeasured
from gde.numerics.stats import paired_difference
from gde.seeding import generator
from gde_plugins.probes.maps.estimates import Bools, Scores
from gde_plugins.probes.maps.held_out import DecodedTurns, decoded_turns, true_map
from gde_plugins.probes.maps.scores import distances, likeliest_on_map, of_known

NONE_DECODED = "no probe decoded maps; choose --probe cogmap"


def maps(evidence: Evidence) -> Sequence[Measurement]:
    """What Arghal et al. (2026), section 5.1, print of cognitive maps, of every arm of a probe that decodes maps.

    "maps.accuracy", "maps.recall.CLASS" and "maps.precision.CLASS" over the cells of the true grid, the likeliest class
    but padding being named; "maps.top1.CLASS", "maps.distance.CLASS" and "maps.spread.CLASS" of agent and goal, as
    `cogmap` has them; "maps.accuracy.majority" of a reader who names each cell's commonest class in the first turns of
    the worlds that were trained on, of which "maps.worlds" counts how many there are; "maps.selectivity", by how much
    more of a true map is right than by the same probe fitted to shuffled labels, training turns with each other's maps,
    and "maps.selectivity.CLASS", the same of top-1. All of them of first turns alone; what is not told of training or
    against shuffled labels by size and density too, controls like the probe. Of a class that was never trained on there
    is the reason alone. Every n counts turns.

    Selectivity as Hewitt and Liang (2019, section 2) define it is another difference: they score the control probe on
    the control task, whose labels are fixed for each type of input, so that it can have them from training by heart.
    Here the type is the world, and no held-out world was trained on: its control labels can be told from how common
    labels are, no better than its true ones. So this says what the activations tell beyond that, and nothing of how
    much a probe is able to memorise.

    Probes are fitted to the whole run, so parts of it have no such numbers.
    """
    if evidence.part:
        return ()
    arms = [turns.take(np.array([turn.index == 0 for turn in turns.turns])) for turns in decoded_turns(evidence)]
    if not any(arm.turns for arm in arms):
        return [unmeasured("maps.accuracy", "share", NONE_DECODED)]
    return [
        each for arm in arms if arm.turns for each in (*_measured(arm, evidence), *_selectivity(arm, arms, evidence))
    ]


def _measured(arm: DecodedTurns, evidence: Evidence) -> Iterator[Measurement]:
    parts = [arm, *arm.parts()]
    for part in parts:
        yield from part.under(_scores(part, evidence.seed))
    if arm.where["fit"] == "none":
        worlds, prior = _trained(arm, evidence)
        yield from arm.under([Measurement(name="maps.worlds", value=float(worlds), unit="count", n=worlds)])
        for part in parts:
            yield from part.under(_commonest(part, prior, evidence.seed))


def _commonest(arm: DecodedTurns, prior: NDArray[np.float32], seed: int) -> list[Measurement]:
    """Of a reader who names each cell's commonest class in training."""
    scores = Scores(arm.groups, generator(seed, "metric", "maps", "majority"))
    named = np.broadcast_to(likeliest_on_map(prior, arm.classes), arm.cells.shape)
    on_map = arm.cells != arm.classes.index(PAD)
    scores.share("maps.accuracy.majority", (named == arm.cells) & on_map, on_map, "")
    return scores.measurements


def _selectivity(arm: DecodedTurns, arms: Sequence[DecodedTurns], evidence: Evidence) -> Iterator[Measurement]:
    """Of an arm that is no control, beside the same probe fitted to other turns' maps; of maps that have the class."""
    task = {**arm.where, "fit": "shuffled"}
    control = next((one for one in arms if one.where == task and len(one.turns) == len(arm.turns)), None)
    if arm.where["fit"] != "none" or control is None:
        return
    ours, others = ([*_right(each)] for each in (arm, control))
    for (name, mapped, right), (_, _, beside) in zip(ours, others, strict=True):
        if not mapped.any():
            reason = f"no {name.lstrip('.')} cell on the held-out maps"
            yield from arm.under([unmeasured(f"maps.selectivity{name}", "share", reason)])
            continue
        rng = generator(evidence.seed, "metric", "maps", f"selectivity{name}", *map(str, arm.where.values()))
        estimate = paired_difference(right[mapped], beside[mapped], arm.groups[mapped], rng).estimate
        yield from arm.under(of_known([estimate.measurement(f"maps.selectivity{name}", "share")], arm.unknown))


def _right(arm: DecodedTurns) -> Iterator[tuple[str, Bools, NDArray[np.float64]]]:
    """(N,) the maps that are asked for cells, agent or goal, and of each the share of its cells that are right, and
    whether agent and goal are."""
    on_map = arm.cells != arm.classes.index(PAD)
    right = (likeliest_on_map(arm.decoded, arm.classes) == arm.cells) & on_map
    yield "", on_map.any(axis=(1, 2)), right.sum(axis=(1, 2)) / on_map.sum(axis=(1, 2))
    for name in ("agent", "goal"):
        code = arm.classes.index(name)
        found = distances(arm.decoded, arm.cells, code) == 0
        yield f".{name}", (arm.cells == code).any(axis=(1, 2)), found.astype(np.float64)


def _scores(arm: DecodedTurns, seed: int) -> list[Measurement]:
    scores = Scores(arm.groups, generator(seed, "metric", "maps", *map(str, arm.where.values())))
    named = likeliest_on_map(arm.decoded, arm.classes)
    on_map = arm.cells != arm.classes.index(PAD)
    right = (named == arm.cells) & on_map
    scores.share("maps.accuracy", right, on_map, "")
    for code, name in enumerate(arm.classes):
        if name != PAD:
            true, called = arm.cells == code, (named == code) & on_map
            scores.share(f"maps.recall.{name}", right & true, true, f"no {name} cell on the held-out maps")
            scores.share(f"maps.precision.{name}", right & called, called, f"no cell was decoded as {name}")
    size = int(on_map.any(axis=1).sum(axis=1).max())
    located = Scores(scores.groups, scores.rng)
    for name in ("agent", "goal"):
        code = arm.classes.index(name)
        located.located(name, distances(arm.decoded, arm.cells, code), (arm.cells == code).any(axis=(1, 2)), size)
        located.spread(name, arm.decoded.argmax(axis=-1) == code, arm.cells == code, size)
    return of_known([*scores.measurements, *located.under("maps")], arm.unknown)


def _trained(arm: DecodedTurns, evidence: Evidence) -> tuple[int, NDArray[np.float32]]:
    """Worlds that are not held out, and (size, size, C) how often each cell was of each class in their first turns."""
    held_out, size = {*arm.groups.tolist()}, arm.cells.shape[1]
    others = [one for one in evidence.trajectories if one.turns and one.world.cluster not in held_out]
    first = [true_map(one, one.turns[0], size) for one in others if one.turns[0].state is not None]
    shape = (size, size, len(arm.classes))
    if not first:
        return 0, np.zeros(shape, dtype=np.float32)
    prior = [(np.array(first) == code).mean(axis=0) for code in range(len(arm.classes))]
    return len({one.world.cluster for one in others}), np.stack(prior, axis=-1).astype(np.float32)
