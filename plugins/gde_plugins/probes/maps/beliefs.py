"""The metric `beliefs`: is an action optimal on the decoded map?

See Arghal et al. (2026), section 5.2 and table 2.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from gde.data.evidence import Evidence
from gde.data.measure import Measures
from gde.data.result import Measurement
from gde.data.view import moves
from gde.numerics.episodes import unmeasured
from gde.numerics.stats import Estimate, cluster_mean, cluster_share
from gde.seeding import generator
from gde_plugins.probes.arrays import CELLS, Bools, Doubles, Indices
from gde_plugins.probes.maps.against_controls import Measured, against_controls
from gde_plugins.probes.maps.estimates import mean_distance
from gde_plugins.probes.maps.first_turns import NONE_DECODED
from gde_plugins.probes.maps.held_out import DecodedTurns, decoded_turns
from gde_plugins.probes.maps.policies import Believed
from gde_plugins.probes.maps.regret import regrets
from gde_plugins.probes.measures import BELIEFS

SAMPLES = 32
"""Number of maps drawn from each decoded distribution."""
NO_ERROR = "every action on a decoded map with a path was optimal"
NO_WAY = "no decoded map has a path from agent to goal"


def beliefs(evidence: Evidence) -> Sequence[Measurement]:
    """Compare held-out actions with the optimum on the true and the decoded map.

    - "beliefs.accuracy.true": share of actions that are optimal on the true map.
    - "beliefs.valid": share of decoded maps with a path from agent to goal. The next
      three are of their turns alone.
    - "beliefs.accuracy.decoded": share of actions that are optimal on the decoded map.
      ".shuffled" takes the maps decoded in other worlds: what a map gives without any
      relation to the turn.
    - "beliefs.agreement": share of actions that are optimal on both. ".released" counts
      turns in which some action is, as the authors' released code does. Agent and goal
      are placed as the paper says in both.
    - "beliefs.recovery": of the actions that are not optimal in truth, the share that
      is on the decoded map. Again, ".released" counts turns in which some action is
      optimal on both, and ".shuffled" takes maps of other worlds. ".random" is the share
      of the other actions that are not optimal in truth: what an error by chance gives.
    - "beliefs.spread.agent", "beliefs.spread.goal": mean distance of all cells decoded
      so.
    - "beliefs.expected": probability that the action is optimal on a map drawn from the
      whole decoded distribution, as the authors' footnote 6 asks, given that the map
      has a way. ".chance" is that of a uniformly random action.
    - "beliefs.regret.*": steps lost where some action is optimal on the decoded map
      alone or the map has no way ("wrong"), elsewhere ("right"), and the difference,
      see `regrets`.

    All are averaged within trajectories first, then over them. n counts trajectories,
    and intervals resample worlds. There is one of each for every fit of a probe of
    maps, controls included ("fit"), and by size and density for the trained fits.
    ".accuracy.decoded" and ".recovery" are tested against controls, where a map without
    a path counts as one on which no action is optimal. Where agent or goal was never
    trained on there is a reason instead. Probes are fitted to whole runs, so parts of a
    run have no such numbers.
    """
    if evidence.part:
        return ()

    fits = [fit for fit in decoded_turns(evidence) if fit.turns]
    if not fits:
        return [unmeasured("beliefs.accuracy.decoded", NONE_DECODED)]
    for fit in fits:
        if any(turn.optimal is None for turn in fit.turns):
            reason = "some held-out turns have no certified optimal actions"
            return [unmeasured("beliefs.accuracy.decoded", reason)]

    seed = evidence.seed
    measure = partial(_measured, seed=seed)
    found = against_controls(fits, measure, Measures(BELIEFS), seed)
    for fit in fits:
        if not fit.is_control:
            for part in fit.parts():
                found += part.under(measure(part).measurements)
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class _Judged:
    """The actions of N turns, and which of the A actions are optimal."""

    fit: DecodedTurns
    true: Bools
    """(N, A) optimal on the true map."""
    decoded: Bools
    """(N, A) optimal on the decoded map; none if it has no path."""
    taken: Indices
    """(N,) index of the action, -1 for an unusable one."""
    expected: Doubles
    """(N, A) share of the sampled maps with a path on which each action is optimal; NaN
    if none has a path.
    """

    @property
    def leads_rightly(self) -> Bools:
        """(N,) whether whoever follows the decoded map acts optimally."""
        misleads = (self.decoded & ~self.true).any(axis=1)
        leads: Bools = np.asarray(self.decoded.any(axis=1) & ~misleads)
        return leads

    def is_best(self, optimal: Bools) -> Bools:
        """(N,) whether the action taken is among the optimal ones (N, A)."""
        turns = np.arange(len(optimal))
        # -1 would index the last action.
        chosen: Bools = (self.taken >= 0) & optimal[turns, self.taken]
        return chosen


def _judged(fit: DecodedTurns, seed: int) -> _Judged:
    """Solve the decoded maps of some turns: the likeliest and the sampled ones."""
    # The same in all worlds of a run.
    actions = moves(fit.trajectories[0].world)
    names = [*actions]
    n_turns = len(fit.turns)

    # Maps without a path are left out of the expectation, and so are turns of which no
    # sampled map has one.
    labels = fit.labels
    rng = generator(seed, "metric", "beliefs", "maps", *labels)
    n_ways = np.zeros(n_turns)
    n_best = np.zeros((n_turns, len(names)))
    for _ in range(SAMPLES):
        sampled = Believed.sampled(fit.decoded, fit.classes, rng)
        optimal = sampled.optimal(actions)
        n_ways += optimal.any(axis=1)
        n_best += optimal
    with np.errstate(invalid="ignore"):
        expected = n_best / n_ways[:, None]

    true = []
    taken = []
    for turn in fit.turns:
        best = turn.optimal or ()
        true.append([name in best for name in names])
        action = turn.decision.action
        taken.append(names.index(action) if action in names else -1)

    likeliest = Believed.likeliest(fit.decoded, fit.classes)
    return _Judged(
        fit=fit,
        true=np.array(true),
        decoded=likeliest.optimal(actions),
        taken=np.array(taken),
        expected=expected,
    )


def _measured(fit: DecodedTurns, seed: int) -> Measured:
    """All measurements of some turns, see `beliefs`."""
    judged = _judged(fit, seed)
    found = [*_shares(judged, seed), *regrets(fit, judged.leads_rightly, seed)]
    if fit.untrained("agent", "goal"):
        return Measured(measurements=found)
    decoded = judged.is_best(judged.decoded).astype(np.float64)
    scores = {
        "beliefs.accuracy.decoded": decoded,
        "beliefs.recovery": np.where(judged.is_best(judged.true), np.nan, decoded),
    }
    return Measured(measurements=found, scores=scores)


def _shares(judged: _Judged, seed: int) -> Iterator[Measurement]:
    """Shares of turns, expectations and spreads."""
    fit = judged.fit
    untrained = fit.untrained("agent", "goal")
    n_turns = len(judged.true)

    # The turns that a number is of. The places of agent and goal mean nothing where
    # they were never trained on.
    every: Bools = np.ones(n_turns, dtype=bool)
    placed: Bools = np.full(n_turns, not untrained)
    valid: Bools = placed & judged.decoded.any(axis=1)

    true = judged.is_best(judged.true)
    decoded = judged.is_best(judged.decoded)
    both = judged.true & judged.decoded
    some_both: Bools = np.asarray(both.any(axis=1))
    wrong: Bools = valid & ~true
    shares = (
        ("beliefs.accuracy.true", true, every, ""),
        ("beliefs.valid", valid, placed, ""),
        ("beliefs.accuracy.decoded", decoded, valid, NO_WAY),
        ("beliefs.agreement", true & decoded, valid, NO_WAY),
        ("beliefs.agreement.released", some_both, valid, NO_WAY),
        ("beliefs.recovery", decoded, wrong, NO_ERROR),
        ("beliefs.recovery.released", some_both, wrong, NO_ERROR),
    )
    for name, hits, among, reason in shares:
        values = hits.astype(np.float64)
        yield _averaged(fit, name, values, among, seed, untrained or reason)

    elsewhere = _elsewhere(judged, valid)
    by_chance = (
        ("beliefs.accuracy.decoded.shuffled", elsewhere, valid, NO_WAY),
        ("beliefs.recovery.shuffled", elsewhere, wrong, NO_ERROR),
        ("beliefs.recovery.random", _of_errors(judged), wrong, NO_ERROR),
    )
    for name, values, among, reason in by_chance:
        known: Bools = among & ~np.isnan(values)
        yield _averaged(fit, name, values, known, seed, untrained or reason)

    unknown = np.isnan(judged.expected).any(axis=1)
    known = placed & ~unknown
    of_taken = judged.expected[np.arange(n_turns), judged.taken]
    of_action = np.where(judged.taken >= 0, of_taken, 0.0)
    of_chance = judged.expected.mean(axis=1)
    expectations = {
        "beliefs.expected": of_action,
        "beliefs.expected.chance": of_chance,
    }
    for name, values in expectations.items():
        yield _averaged(fit, name, values, known, seed, untrained or NO_WAY)

    yield _spread(fit, "agent", seed)
    yield _spread(fit, "goal", seed)


def _elsewhere(judged: _Judged, valid: Bools) -> Doubles:
    """(N,) share of the decoded maps of other worlds, of those with a path, on which the
    action is optimal; NaN where there is none.
    """
    groups = judged.fit.groups
    shares = np.full(len(groups), np.nan)
    for turn, world in enumerate(groups):
        others = judged.decoded[valid & (groups != world)]
        if len(others):
            action = judged.taken[turn]
            shares[turn] = others[:, action].mean() if action >= 0 else 0.0
    return shares


def _of_errors(judged: _Judged) -> Doubles:
    """(N,) share of the actions that are not optimal in truth that are optimal on the
    decoded map; NaN where all are optimal.
    """
    wrong = ~judged.true
    with np.errstate(invalid="ignore"):
        shares = (wrong & judged.decoded).sum(axis=1) / wrong.sum(axis=1)
    return np.asarray(shares)


def _spread(fit: DecodedTurns, kind: str, seed: int) -> Measurement:
    """Return the mean distance of all cells decoded as agent or goal to the true cell."""
    code = fit.classes.index(kind)
    called = fit.decoded.argmax(axis=-1) == code
    true = fit.cells == code
    known = called.any(axis=CELLS) & true.any(axis=CELLS)

    values = np.zeros(len(known))
    for turn in np.flatnonzero(known):
        values[turn] = mean_distance(called[turn], true[turn])
    reason = f"no cell was decoded as {kind}"
    name = f"beliefs.spread.{kind}"
    return _averaged(fit, name, values, known, seed, reason, cluster_mean)


def _averaged(
    fit: DecodedTurns,
    name: str,
    values: Doubles,
    among: Bools,
    seed: int,
    reason: str,
    estimated: Callable[..., Estimate] = cluster_share,
) -> Measurement:
    """Return the mean of values within each trajectory, then over trajectories."""
    if not among.any():
        return unmeasured(name, reason)

    values_of: dict[tuple[str, str], list[float]] = {}
    for row in np.flatnonzero(among):
        trajectory = fit.trajectories[row]
        key = str(trajectory.key), trajectory.world.cluster
        values_of.setdefault(key, []).append(values[row])

    means = [float(np.mean(each)) for each in values_of.values()]
    clusters = [cluster for _, cluster in values_of]
    rng = generator(seed, "metric", name, *fit.labels)
    return estimated(means, clusters, rng).measurement(name)
