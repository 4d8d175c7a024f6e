"""Does the agent do what is best on the map that it holds? (Arghal et al. 2026, section 5.2 and table 2)"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.numerics.episodes import unmeasured
from gde.numerics.stats import cluster_mean, cluster_share
from gde.seeding import generator
from gde_plugins.probes.maps.estimates import Bools, mean_distance
from gde_plugins.probes.maps.first_turns import NONE_DECODED
from gde_plugins.probes.maps.held_out import DecodedTurns, decoded_turns
from gde_plugins.probes.maps.policies import Believed, Moves

SAMPLES = 32
"""Maps drawn from each decoded distribution."""
NO_ERROR = "no action on a decoded map with a way was other than optimal"
NO_WAY = "no decoded map has a way from agent to goal"


def beliefs(evidence: Evidence) -> Sequence[Measurement]:
    """Actions held against what is best on the true map and on the decoded one, in held-out turns.

    "beliefs.accuracy.true" over all turns; over those in whose decoded map there is a way from agent to goal, whose
    share is "beliefs.valid": "beliefs.accuracy.decoded"; "beliefs.agreement", actions that are optimal on both, and
    "beliefs.agreement.released", turns in which some action is, which the authors' released code counts;
    "beliefs.recovery", of the actions that are not optimal in truth those that are on the decoded map, and
    "beliefs.recovery.released", those in whose turn some action is optimal on both, which the code counts under that
    name. "beliefs.spread.agent" and ".goal": mean distance of all cells so decoded.

    "beliefs.expected": the probability that the action is optimal on a map drawn from the whole decoded distribution,
    which the authors' footnote 6 asks for, given that the map drawn has a way from agent to goal: maps without any are
    left out, and turns of which no map drawn has one. "beliefs.expected.chance" is that of a uniformly random action.
    Of an agent or a goal that no training map had no place is known, and there is the reason alone.

    All are averaged within trajectories first, then over them; n counts trajectories, and intervals resample worlds.
    One for each arm of a probe that decodes maps, controls ("fit") included, by size and density for those that are
    none. Probes are fitted to the whole run, so parts of it have no such numbers.
    """
    if evidence.part:
        return ()
    arms = [arm for arm in decoded_turns(evidence) if arm.turns]
    if not arms:
        return [unmeasured("beliefs.accuracy.decoded", "share", NONE_DECODED)]
    if any(turn.optimal is None for arm in arms for turn in arm.turns):
        reason = "some held-out turns have no certified optimal actions"
        return [unmeasured("beliefs.accuracy.decoded", "share", reason)]
    return [each for arm in arms for each in _of_arm(arm, evidence.seed)]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Judged:
    """N turns; what was taken is (N,), what is optimal (N, A)."""

    arm: DecodedTurns
    true: Bools
    decoded: Bools
    taken: NDArray[np.intp]
    """Index of the action, -1 for none that could be used."""
    expected: NDArray[np.float64]
    """(N, A) share of the sampled maps with a way on which each action is optimal; NaN where none has a way."""

    def best(self, optimal: Bools) -> Bools:
        """(N,) whether the action taken is optimal."""
        chosen: Bools = (self.taken >= 0) & optimal[np.arange(len(optimal)), self.taken]
        return chosen


def _of_arm(arm: DecodedTurns, seed: int) -> Iterator[Measurement]:
    yield from arm.under([*_measured(_judged(arm, seed), seed)])
    if arm.where["fit"] == "none":
        for part in arm.parts():
            yield from part.under([*_measured(_judged(part, seed), seed)])


def _judged(arm: DecodedTurns, seed: int) -> _Judged:
    moves = _moves(arm)
    names = [*moves]
    rng = generator(seed, "metric", "beliefs", "maps", *map(str, arm.where.values()))
    drawn = [Believed.sampled(arm.decoded, arm.classes, rng).optimal(moves) for _ in range(SAMPLES)]
    ways = sum(each.any(axis=1).astype(np.float64) for each in drawn)
    best = sum(each.astype(np.float64) for each in drawn)
    with np.errstate(invalid="ignore"):
        expected = np.asarray(best) / np.asarray(ways)[:, None]
    return _Judged(
        arm=arm,
        true=np.array([[name in (turn.optimal or ()) for name in names] for turn in arm.turns]),
        decoded=Believed.likeliest(arm.decoded, arm.classes).optimal(moves),
        taken=np.array([_index(names, turn.decision.action) for turn in arm.turns]),
        expected=expected,
    )


def _moves(arm: DecodedTurns) -> Moves:
    told = arm.trajectories[0].world.facts["moves"]
    assert isinstance(told, Mapping)
    return {str(action): (move[0], move[1]) for action, move in told.items()}  # type: ignore[index,misc]


def _index(names: Sequence[str], action: str | None) -> int:
    return names.index(action) if action in names else -1


def _measured(judged: _Judged, seed: int) -> Iterator[Measurement]:
    untrained = judged.arm.untrained("agent", "goal")
    every: Bools = np.ones(len(judged.true), dtype=bool)
    placed: Bools = np.full(len(every), not untrained)
    valid: Bools = placed & judged.decoded.any(axis=1)
    true, decoded = judged.best(judged.true), judged.best(judged.decoded)
    both: Bools = np.asarray((judged.true & judged.decoded).any(axis=1))
    wrong: Bools = valid & ~true
    for name, hits, among, reason in (
        ("beliefs.accuracy.true", true, every, ""),
        ("beliefs.valid", valid, placed, ""),
        ("beliefs.accuracy.decoded", decoded, valid, NO_WAY),
        ("beliefs.agreement", true & decoded, valid, NO_WAY),
        ("beliefs.agreement.released", both, valid, NO_WAY),
        ("beliefs.recovery", decoded, wrong, NO_ERROR),
        ("beliefs.recovery.released", both, wrong, NO_ERROR),
    ):
        yield _averaged(judged.arm, name, hits.astype(np.float64), among, seed, untrained or reason)
    known: Bools = placed & ~np.isnan(judged.expected).any(axis=1)
    rows = np.arange(len(known))
    at_action = np.where(judged.taken >= 0, judged.expected[rows, judged.taken], 0.0)
    for name, values in (("beliefs.expected", at_action), ("beliefs.expected.chance", judged.expected.mean(axis=1))):
        yield _averaged(judged.arm, name, np.where(known, values, 0.0), known, seed, untrained or NO_WAY)
    yield from _spreads(judged.arm, seed)


def _spreads(arm: DecodedTurns, seed: int) -> Iterator[Measurement]:
    for kind in ("agent", "goal"):
        code = arm.classes.index(kind)
        called, true = arm.decoded.argmax(axis=-1) == code, arm.cells == code
        known = called.any(axis=(1, 2)) & true.any(axis=(1, 2))
        values = np.array([mean_distance(*both) if ok else 0.0 for *both, ok in zip(called, true, known, strict=True)])
        yield _averaged(arm, f"beliefs.spread.{kind}", values, known, seed, f"no cell was decoded as {kind}", "cells")


def _averaged(
    arm: DecodedTurns, name: str, values: NDArray[np.float64], among: Bools, seed: int, reason: str, unit: str = "share"
) -> Measurement:
    """The mean of some turns' values within each trajectory that has any, then over trajectories."""
    if not among.any():
        return unmeasured(name, unit, reason)
    of_trajectory: dict[str, tuple[str, list[float]]] = {}
    for one, value in zip(np.array(arm.trajectories, dtype=object)[among], values[among], strict=True):
        of_trajectory.setdefault(str(one.key), (one.world.cluster, []))[1].append(float(value))
    clusters = [cluster for cluster, _ in of_trajectory.values()]
    means = [float(np.mean(found)) for _, found in of_trajectory.values()]
    rng = generator(seed, "metric", name, *map(str, arm.where.values()))
    estimate = cluster_share if unit == "share" else cluster_mean
    return estimate(means, clusters, rng).measurement(name, unit)
