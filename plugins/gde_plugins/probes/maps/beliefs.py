"""The metric `beliefs`: is an action optimal on the decoded map? (Arghal et al. 2026, section 5.2 and table 2)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.numerics.episodes import unmeasured
from gde.numerics.stats import cluster_mean, cluster_share
from gde.seeding import generator
from gde_plugins.probes.arrays import Bools, Doubles, Indices
from gde_plugins.probes.maps.estimates import mean_distance
from gde_plugins.probes.maps.first_turns import NONE_DECODED
from gde_plugins.probes.maps.held_out import DecodedTurns, decoded_turns
from gde_plugins.probes.maps.policies import Believed, Moves

SAMPLES = 32
"""Maps drawn from each decoded distribution."""
NO_ERROR = "no action on a decoded map with a way was other than optimal"
NO_WAY = "no decoded map has a way from agent to goal"


def beliefs(evidence: Evidence) -> Sequence[Measurement]:
    """Compare the actions of held-out turns with the optimum on the true map and on the decoded one.

    - "beliefs.accuracy.true": share of actions that are optimal on the true map.
    - "beliefs.valid": share of decoded maps with a way from agent to goal. The next three are of their turns alone.
    - "beliefs.accuracy.decoded": share of actions that are optimal on the decoded map.
    - "beliefs.agreement": share of actions that are optimal on both. ".released" counts turns in which some action is,
      as the authors' released code does.
    - "beliefs.recovery": of the actions that are not optimal in truth, the share that is on the decoded map. Again,
      ".released" counts turns in which some action is optimal on both.
    - "beliefs.spread.agent", "beliefs.spread.goal": mean distance of all cells decoded so.
    - "beliefs.expected": probability that the action is optimal on a map drawn from the whole decoded distribution,
      as the authors' footnote 6 asks, given that the map has a way. ".chance" is that of a uniformly random action.

    All are averaged within trajectories first, then over them. n counts trajectories, and intervals resample worlds.
    There is one of each for every fit of a probe of maps, controls included ("fit"), and by size and density for the
    trained fits. Where agent or goal was never trained on there is a reason instead. Probes are fitted to whole runs,
    so parts of a run have no such numbers.
    """
    if evidence.part:
        return ()
    fits = [fit for fit in decoded_turns(evidence) if fit.turns]
    if not fits:
        return [unmeasured("beliefs.accuracy.decoded", "share", NONE_DECODED)]
    for fit in fits:
        if any(turn.optimal is None for turn in fit.turns):
            reason = "some held-out turns have no certified optimal actions"
            return [unmeasured("beliefs.accuracy.decoded", "share", reason)]

    measurements: list[Measurement] = []
    for fit in fits:
        parts = [*fit.parts()] if fit.where["fit"] == "none" else []
        for part in (fit, *parts):
            measurements += part.under([*_measured(_judged(part, evidence.seed), evidence.seed)])
    return measurements


@dataclass(frozen=True, kw_only=True, eq=False)
class _Judged:
    """The actions of N turns, and which of the A actions are optimal."""

    fit: DecodedTurns
    true: Bools
    """(N, A) optimal on the true map."""
    decoded: Bools
    """(N, A) optimal on the decoded map; none where it has no way."""
    taken: Indices
    """(N,) index of the action, -1 for none that could be used."""
    expected: Doubles
    """(N, A) share of the sampled maps with a way on which each action is optimal; NaN where none has a way."""

    def is_best(self, optimal: Bools) -> Bools:
        """(N,) whether the action taken is among the optimal ones (N, A)."""
        chosen: Bools = (self.taken >= 0) & optimal[np.arange(len(optimal)), self.taken]
        return chosen


def _judged(fit: DecodedTurns, seed: int) -> _Judged:
    moves = _moves(fit)
    names = [*moves]

    # Maps without a way are left out of the expectation, and so are turns of which no sampled map has one.
    rng = generator(seed, "metric", "beliefs", "maps", *map(str, fit.where.values()))
    n_ways = np.zeros(len(fit.turns))
    n_best = np.zeros((len(fit.turns), len(names)))
    for _ in range(SAMPLES):
        optimal = Believed.sampled(fit.decoded, fit.classes, rng).optimal(moves)
        n_ways += optimal.any(axis=1)
        n_best += optimal
    with np.errstate(invalid="ignore"):
        expected = n_best / n_ways[:, None]

    true = []
    taken = []
    for turn in fit.turns:
        action = turn.decision.action
        true.append([name in (turn.optimal or ()) for name in names])
        taken.append(names.index(action) if action in names else -1)
    decoded = Believed.likeliest(fit.decoded, fit.classes).optimal(moves)
    return _Judged(fit=fit, true=np.array(true), decoded=decoded, taken=np.array(taken), expected=expected)


def _moves(fit: DecodedTurns) -> Moves:
    moves = fit.trajectories[0].world.facts["moves"]
    assert isinstance(moves, Mapping)
    return {str(action): (move[0], move[1]) for action, move in moves.items()}  # type: ignore[index,misc]


def _measured(judged: _Judged, seed: int) -> Iterator[Measurement]:
    fit = judged.fit
    untrained = fit.untrained("agent", "goal")
    every: Bools = np.ones(len(judged.true), dtype=bool)
    placed: Bools = np.full(len(every), not untrained)
    valid: Bools = placed & judged.decoded.any(axis=1)
    true = judged.is_best(judged.true)
    decoded = judged.is_best(judged.decoded)
    some_both: Bools = np.asarray((judged.true & judged.decoded).any(axis=1))
    wrong: Bools = valid & ~true
    for name, hits, among, reason in (
        ("beliefs.accuracy.true", true, every, ""),
        ("beliefs.valid", valid, placed, ""),
        ("beliefs.accuracy.decoded", decoded, valid, NO_WAY),
        ("beliefs.agreement", true & decoded, valid, NO_WAY),
        ("beliefs.agreement.released", some_both, valid, NO_WAY),
        ("beliefs.recovery", decoded, wrong, NO_ERROR),
        ("beliefs.recovery.released", some_both, wrong, NO_ERROR),
    ):
        yield _averaged(fit, name, hits.astype(np.float64), among, seed, untrained or reason)

    known: Bools = placed & ~np.isnan(judged.expected).any(axis=1)
    of_action = np.where(judged.taken >= 0, judged.expected[np.arange(len(known)), judged.taken], 0.0)
    of_chance = judged.expected.mean(axis=1)
    for name, values in (("beliefs.expected", of_action), ("beliefs.expected.chance", of_chance)):
        yield _averaged(fit, name, np.where(known, values, 0.0), known, seed, untrained or NO_WAY)

    for kind in ("agent", "goal"):
        yield _spread(fit, kind, seed)


def _spread(fit: DecodedTurns, kind: str, seed: int) -> Measurement:
    """The mean distance of all cells decoded as agent or goal to the true one."""
    code = fit.classes.index(kind)
    called = fit.decoded.argmax(axis=-1) == code
    true = fit.cells == code
    known = called.any(axis=(1, 2)) & true.any(axis=(1, 2))
    values = np.zeros(len(known))
    for turn in np.flatnonzero(known):
        values[turn] = mean_distance(called[turn], true[turn])
    return _averaged(fit, f"beliefs.spread.{kind}", values, known, seed, f"no cell was decoded as {kind}", "cells")


def _averaged(
    fit: DecodedTurns, name: str, values: Doubles, among: Bools, seed: int, reason: str, unit: str = "share"
) -> Measurement:
    """The mean of some turns' values within each trajectory, then over trajectories."""
    if not among.any():
        return unmeasured(name, unit, reason)
    values_of: dict[str, list[float]] = {}
    cluster_of: dict[str, str] = {}
    for row in np.flatnonzero(among):
        trajectory = fit.trajectories[row]
        key = str(trajectory.key)
        values_of.setdefault(key, []).append(float(values[row]))
        cluster_of[key] = trajectory.world.cluster

    means = [float(np.mean(each)) for each in values_of.values()]
    clusters = [*cluster_of.values()]
    rng = generator(seed, "metric", name, *map(str, fit.where.values()))
    estimate = cluster_share if unit == "share" else cluster_mean
    return estimate(means, clusters, rng).measurement(name, unit)
