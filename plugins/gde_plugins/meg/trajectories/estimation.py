"""Goal-directedness estimated from episodes (MacDermott et al. 2024, section 3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import copysign, log
from typing import Any

import numpy as np

from gde.data.arrays import Doubles, Indices
from gde.data.json import Labels
from gde.data.result import Measurement
from gde.numerics.stats import Interval, cluster_mean, cluster_ratio
from gde_plugins.meg.solvers.dynamics import Dynamics
from gde_plugins.meg.solvers.limits import backwards
from gde_plugins.meg.solvers.softmax import divergence
from gde_plugins.meg.trajectories.behaviour import Behaviour
from gde_plugins.meg.trajectories.episodes import Episode, resampling_units
from gde_plugins.meg.trajectories.linear_utility import FOLDS, Linear, LinearFit
from gde_plugins.meg.trajectories.rationality import Profile
from gde_plugins.meg.trajectories.sample import Sample, join_worlds
from gde_plugins.meg.trajectories.utilities import Feature, Pursuit, own_reward

PER_WEIGHT = 5
"""Fewest clusters for each fitted weight. With half as many the value is too low by a
fifth, as simulated.
"""
WITHIN = 5
"""Fewest episodes of a single cluster. With fewer, cutting the value off at 0 makes it
too high. For random agents the bias is 0.1 to 0.25 nats with two episodes, and 0.04 to
0.06 with five.
"""


@dataclass(frozen=True, kw_only=True, eq=False)
class SampledMeg:
    """Maximum-entropy goal-directedness of the agent behind a sample of episodes."""

    value: float | None
    """Nats an episode: the middle of `plug_in` and `cross_fitted`, but at least 0;
    unbiased to first order. None, like `share`, if the sample is too small; the other
    numbers then only describe these episodes.
    """
    reason: str
    """Why there is no value; empty otherwise."""
    interval: Interval | None
    """95 %, over clusters; None with fewer than six."""
    share: float | None
    """The value as a share of `ceiling`."""
    share_interval: Interval | None
    plug_in: float
    """Mean accuracy of the policy that predicts these very episodes best. It is too
    high by about K / (2 n) for K fitted numbers and n independent episodes.
    """
    cross_fitted: float | None
    """Mean accuracy if each cluster is predicted from the others, or each episode of a
    single cluster. It is too low by as much. None for a single episode, and for a
    single cluster if the utility was fitted.
    """
    beta: float
    """Best rationality, in units of 1 / utility. Negative if behaviour avoids the
    utility; +-inf if only optimal actions (or worst ones) were taken; 1 if the utility
    was fitted.
    """
    weights: Doubles | None
    """(K,) of the features, each scaled to range 1, where the utility was fitted."""
    ceiling: float
    """The most nats an episode that so many decisions can have: ln |A| each, unusable
    ones included.
    """
    n: int
    """The number of episodes."""
    n_clusters: int
    n_decisions: int
    n_unusable: int
    """The number of decisions without an action; each is worth 0 nats."""

    def measurement(self, name: str, where: Labels) -> Measurement:
        """The nats an episode as a measurement of the run."""
        return Measurement(
            name=name,
            value=self.value,
            n=self.n,
            clusters=self.n_clusters,
            interval=self.interval,
            where=where,
            reason=self.reason,
        )


def from_trajectories(
    episodes: Sequence[Episode],
    utility: Pursuit | Linear | str = own_reward,
    *,
    rng: np.random.Generator,
    signed: bool = False,
) -> SampledMeg:
    """Estimate the MEG of an agent from its behaviour; one rationality, or utility,
    explains all worlds.

    The accuracy of a soft-optimal policy is the mean over episodes of the sum over
    decisions of ln pi(action | state, time) + ln |A|. The MEG is its supremum over the
    rationality beta in [-inf, inf] (Definition 3.2), or over all utilities of a class
    (Definition 4.3). As the sample grows, the estimate tends to the value of
    `known_utility`, averaged over worlds.

    Args:
        episodes: of worlds with as many actions and equal discount.
        utility: the worlds' own reward; the name of a state feature (see `Feature`); a
            function from a world to the world with the utility as its reward; or
            `Linear`, a class of utilities to be fitted.
        rng: for resampling and folds.
        signed: give a negative value to behaviour that avoids the utility (MacDermott
            et al. 2024, footnote 4). With `Linear`, which holds with each utility its
            negation, there is no sign.

    Raises:
        ValueError: no episodes, none with a decision, worlds of different kinds or of a
            single action, or a world without the feature.
    """
    pursuit = Feature(utility) if isinstance(utility, str) else utility
    sample = Sample.of(episodes)
    behaviour = Behaviour.of(sample, pursuit)
    if not sample.n_decisions.any():
        raise ValueError("wanted episodes with decisions, got none that has any")
    if behaviour.n_actions < 2:
        raise ValueError(
            "wanted worlds with at least two actions, got one: there is nothing to decide"
        )

    # The most nats that the decisions of each episode can have.
    ceilings = sample.n_decisions * log(behaviour.n_actions)
    clusters = sample.clusters
    if isinstance(pursuit, Linear):
        found = _fitted_utility(behaviour, pursuit, clusters, ceilings, rng)
    else:
        found = _given_utility(behaviour, clusters, ceilings, rng, signed)

    # The other numbers stay, since they describe these very episodes.
    reason = _too_little(sample, pursuit)
    if reason:
        found |= dict.fromkeys(("value", "interval", "share", "share_interval"))
    return SampledMeg(
        **found,
        reason=reason,
        ceiling=float(ceilings.mean()),
        n=len(clusters),
        n_clusters=int(clusters.max()) + 1,
        n_decisions=int(sample.lengths.sum()),
        n_unusable=sample.n_unusable,
    )


def _too_little(sample: Sample, pursuit: Pursuit | Linear) -> str:
    """Return why these episodes say too little of the agent; empty if they do not."""
    if not len(sample.decisions.states):
        return f"none of the {sample.n_unusable} decisions names an action"

    n = len(sample)
    n_clusters = int(sample.clusters.max()) + 1
    if isinstance(pursuit, Linear):
        n_weights = len(pursuit.features)
        least = PER_WEIGHT * n_weights
        weights = f"{n_weights} weights ({PER_WEIGHT} each)"
        if n_clusters < least:
            return f"wanted at least {least} independent worlds to fit {weights}, got {n_clusters}"
    elif n_clusters == 1 and n < WITHIN:
        return f"wanted several worlds, or at least {WITHIN} episodes in the only one, got {n}"
    return ""


def _given_utility(
    behaviour: Behaviour,
    clusters: Indices,
    ceilings: Doubles,
    rng: np.random.Generator,
    signed: bool,
) -> dict[str, Any]:
    """Return the numbers of a `SampledMeg` for a utility that is known."""
    n = len(clusters)
    units = resampling_units(clusters)
    profile = Profile.of(behaviour, units)

    # The one is too high by as much as the other is too low.
    plug_in = profile.best / n
    cross_fitted = None
    value = plug_in
    if n > 1:
        cross_fitted = float(profile.cross_fitted().sum()) / n
        middle = (plug_in + cross_fitted) / 2
        value = max(0.0, middle)
    if signed:
        # "or" makes a negative zero positive.
        value = value * copysign(1.0, profile.beta) or 0.0
    share = value / float(ceilings.mean())

    # A single world, however many episodes were played in it, tells nothing of others;
    # its units are these episodes.
    interval = None
    share_interval = None
    if clusters.any():
        episodes_of = np.bincount(units, weights=np.ones(n)).astype(np.float64)
        ceilings_of = np.bincount(units, weights=ceilings).astype(np.float64)
        interval, share_interval = profile.intervals(rng, episodes_of, ceilings_of)
        if not signed:
            interval = _folded(interval)
            share_interval = _folded(share_interval)
    return {
        "value": value,
        "interval": _stretched(interval, value),
        "share": share,
        "share_interval": _stretched(share_interval, share),
        "plug_in": plug_in,
        "cross_fitted": cross_fitted,
        "beta": profile.beta,
        "weights": None,
    }


def _fitted_utility(
    behaviour: Behaviour,
    utilities: Linear,
    clusters: Indices,
    ceilings: Doubles,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Return the numbers of a `SampledMeg` for a class of utilities."""
    values = utilities.values(behaviour.mdp)
    fit = LinearFit(behaviour, values)
    n_weights = len(utilities.features)
    weights = fit.fit(np.ones(len(clusters)), np.zeros(n_weights))
    scores = fit.scores(weights)

    # Weights fitted to one world cannot be tried on another, so a single world leaves
    # the fit as it is.
    cross_fitted = None
    middle = scores
    if clusters.any():
        held_out = fit.cross_fitted(clusters, weights, FOLDS, rng)
        cross_fitted = float(held_out.mean())
        middle = (scores + held_out) / 2

    per_episode = cluster_mean(middle, clusters, rng)
    share = cluster_ratio(middle, ceilings, clusters, rng)
    return {
        "value": max(0.0, per_episode.value),
        "interval": _at_least_0(per_episode.interval),
        "share": max(0.0, share.value),
        "share_interval": _at_least_0(share.interval),
        "plug_in": float(scores.mean()),
        "cross_fitted": cross_fitted,
        "beta": 1.0,
        "weights": weights,
    }


def _folded(interval: Interval | None) -> Interval | None:
    """Return what the interval of a signed number says of its magnitude."""
    if interval is None:
        return None
    low, high = interval
    nearest = min(abs(low), abs(high))
    if low < 0 < high:
        nearest = 0.0
    return nearest, max(abs(low), abs(high))


def _stretched(interval: Interval | None, value: float) -> Interval | None:
    """Stretch the interval, which is that of `plug_in`, to hold the value, which a
    large correction may move out.
    """
    if interval is None:
        return None
    low, high = interval
    return min(low, value), max(high, value)


def _at_least_0(interval: Interval | None) -> Interval | None:
    """Cut off what lies below 0, as the value is."""
    if interval is None:
        return None
    low, high = interval
    return max(0.0, low), max(0.0, high)


def optimal_share(episodes: Sequence[Episode]) -> float:
    """Return the MEG of an optimal agent in the same worlds, as a share of the ceiling,
    ln |A| a decision.

    It is less than 1 if there are several best actions. The agent follows the optimal
    policy of most causal entropy, which is the least goal-directed one, and plans as far
    ahead as the agents of the episodes are taken to. It starts where the worlds start,
    and plays each as often as the episodes do: until it ends, or, where it cannot end,
    for as many decisions. 0 if optimal agents decide nothing.
    """
    sample = Sample.of(episodes)
    mdp = join_worlds(sample.worlds)
    dynamics = Dynamics(mdp)
    utility = dynamics.utility(mdp.reward)
    world_of = np.repeat(np.arange(len(sample.worlds)), sample.sizes)

    # (N,) states that count from the first decision on, and decisions at most.
    deadlines = np.array([episode.horizon or 0 for episode in sample])
    to_go = np.where(deadlines, deadlines, sample.planned[sample.world_of])
    can_end = np.array([bool(len(Dynamics(each).ending)) for each in sample.worlds])
    lasts = np.where(can_end[sample.world_of], to_go, sample.lengths)

    policies = [
        step.policy for step in backwards(dynamics, utility, int(to_go.max(initial=1)))
    ]
    nats = 0.0
    decisions = 0.0
    kinds = np.stack([to_go, deadlines > 0, lasts], axis=1)
    for first, has_deadline, last in np.unique(kinds, axis=0):
        alike = (kinds == (first, has_deadline, last)).all(axis=1)
        plays = np.bincount(sample.world_of[alike], minlength=len(sample.worlds))
        visits = mdp.start * len(sample.worlds) * plays[world_of]
        for t in range(last):
            policy = policies[first - 1 - t * has_deadline]
            taken = visits * dynamics.going * policy
            nats += divergence(taken)
            decisions += float(taken.sum())
            visits = dynamics.arrivals(taken)
    return nats / (decisions * log(dynamics.n_actions)) if decisions else 0.0
