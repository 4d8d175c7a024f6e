"""Goal-directedness of behaviour that is known from episodes alone (MacDermott et al. 2024, section 3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import copysign, log
from typing import Any

import numpy as np

from gde.data.mdp import Floats
from gde.numerics.stats import Interval, cluster_mean, cluster_ratio
from gde_plugins.meg.solvers.dynamics import Indices
from gde_plugins.meg.solvers.limits import backwards
from gde_plugins.meg.trajectories.behaviour import Behaviour
from gde_plugins.meg.trajectories.episodes import Episode, resampling_units
from gde_plugins.meg.trajectories.linear_utility import FOLDS, Linear, LinearFit
from gde_plugins.meg.trajectories.rationality import Profile
from gde_plugins.meg.trajectories.sample import Sample
from gde_plugins.meg.trajectories.utilities import Feature, Pursuit, own_reward

PER_WEIGHT = 5
"""Fewest clusters for each fitted weight. With half as many the value is too low by a fifth, as simulated in
docs/meg-agents.md."""
WITHIN = 5
"""Fewest episodes of a single cluster. With fewer a value that is cut off at 0 is too high: of random agents by 0.1 to
0.25 nats with two episodes, by 0.04 to 0.06 with five."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SampledMeg:
    """Maximum-entropy goal-directedness of the agent behind a sample of episodes."""

    value: float | None
    """Nats an episode: the middle of `plug_in` and `cross_fitted`, but at least 0; unbiased to first order. None, as
    `share`, where there is too little to estimate it from; the other numbers then only describe these episodes."""
    reason: str
    """Why there is no value; empty otherwise."""
    interval: Interval | None
    """95 %, over clusters; None for a single one, which tells nothing of other worlds."""
    share: float | None
    """The value as a share of `ceiling`."""
    share_interval: Interval | None
    plug_in: float
    """Mean accuracy of the policy that predicts these very episodes best: too high by about K / (2 n) for K fitted
    numbers and n independent episodes."""
    cross_fitted: float | None
    """Mean accuracy where each cluster, or each episode of a single one, is predicted from the others: too low by as
    much. None for a single episode, and for a single cluster where the utility was fitted."""
    beta: float
    """Best rationality, in units of 1 / utility; negative where behaviour avoids the utility, +-inf where only optimal
    actions (or worst ones) were taken. 1 where the utility was fitted."""
    weights: Floats | None
    """(K,) of the features, each scaled to range 1, where the utility was fitted."""
    evidence: float | None
    """Log-likelihood ratio of pursuit to chance, of all episodes together, for an unknown rationality: a priori
    uniform on the logarithm from 0.1 to 1000, in units of 1 / (largest minus smallest utility), or on to where the
    best lies if that is beyond. None where the utility was fitted."""
    ceiling: float
    """Nats an episode that so many decisions have at most: ln |A| each, unusable ones included."""
    n: int
    """The number of episodes."""
    n_clusters: int
    n_decisions: int
    n_unusable: int
    """The number of decisions without an action; each is worth 0 nats."""

    @property
    def bias(self) -> float | None:
        """Estimated optimism of `plug_in`; None without `cross_fitted`."""
        return None if self.cross_fitted is None else (self.plug_in - self.cross_fitted) / 2


def from_trajectories(
    episodes: Sequence[Episode],
    utility: Pursuit | Linear | str = own_reward,
    *,
    rng: np.random.Generator,
    signed: bool = False,
) -> SampledMeg:
    """Estimate the MEG of an agent from its behaviour; one rationality, or utility, explains all worlds.

    The accuracy of a soft-optimal policy is the mean over episodes of the sum over decisions of
    ln pi(action | state, time) + ln |A|. The MEG is its supremum over the rationality beta in [-inf, inf] (Definition
    3.2), or over all utilities of a class (Definition 4.3). For an agent that is sampled without end the estimate
    goes to the value of `known_utility`, averaged over worlds.

    Args:
        episodes: of worlds with as many actions and equal discount.
        utility: the worlds' own reward; the name of a state feature (see `Feature`); a function from a world to the
            world with the utility as its reward; or `Linear`, a class of utilities to be fitted.
        rng: for resampling and folds.
        signed: give a negative value to behaviour that avoids the utility (MacDermott et al. 2024, footnote 4). With
            `Linear`, which holds with each utility its negation, there is no sign.

    Raises:
        ValueError: no episodes, none with a decision, worlds of different kinds or of a single action, or a world
            without the feature.
    """
    pursuit = Feature(utility) if isinstance(utility, str) else utility
    if not isinstance(pursuit, Linear) and not callable(pursuit):
        raise ValueError(f"utility: wanted the name of a label, a function of a model or Linear, got {utility!r}")
    if not isinstance(rng, np.random.Generator):
        raise ValueError(f"rng: wanted a numpy.random.Generator, got {rng!r}: use numpy.random.default_rng")
    behaviour = Behaviour.of(episodes, pursuit)
    if not behaviour.sample.n_decisions.any():
        raise ValueError("wanted episodes with decisions, got none that has any")
    if behaviour.n_actions < 2:
        raise ValueError("wanted worlds with at least two actions, got one: there is nothing to decide")

    clusters = behaviour.sample.clusters
    if isinstance(pursuit, Linear):
        found = _fitted_utility(behaviour, pursuit, clusters, rng)
    else:
        found = _given_utility(behaviour, clusters, rng, signed)
    reason = _too_little(behaviour, pursuit, clusters)
    if reason:
        found |= dict.fromkeys(("value", "interval", "share", "share_interval"))
    return SampledMeg(
        **found,
        reason=reason,
        ceiling=float(_ceilings(behaviour).mean()),
        n=len(episodes),
        n_clusters=int(clusters.max()) + 1,
        n_decisions=int(behaviour.sample.lengths.sum()),
        n_unusable=behaviour.sample.n_unusable,
    )


def _too_little(behaviour: Behaviour, pursuit: Pursuit | Linear, clusters: Indices) -> str:
    """Return why these episodes say too little of the agent; empty if they do not."""
    if not len(behaviour.scene.decisions.states):
        return f"none of the {behaviour.sample.n_unusable} decisions names an action"
    if isinstance(pursuit, Linear):
        n = int(clusters.max()) + 1
        least = PER_WEIGHT * len(pursuit.features)
        weights = f"{len(pursuit.features)} weights ({PER_WEIGHT} each)"
        return "" if n >= least else f"wanted at least {least} independent worlds to fit {weights}, got {n}"
    if clusters.any() or len(clusters) >= WITHIN:
        return ""
    return f"wanted several worlds, or at least {WITHIN} episodes in the only one, got {len(clusters)}"


def _given_utility(behaviour: Behaviour, clusters: Indices, rng: np.random.Generator, signed: bool) -> dict[str, Any]:
    n = len(clusters)
    units = resampling_units(clusters)
    profile = Profile.of(behaviour, units)
    ceilings = _ceilings(behaviour)

    plug_in = profile.best / n
    cross_fitted = None
    value = plug_in
    if n > 1:
        cross_fitted = float(profile.cross_fitted().sum()) / n
        value = max(0.0, (plug_in + cross_fitted) / 2)
    if signed:
        # "or" makes a negative zero positive.
        value = value * copysign(1.0, profile.beta) or 0.0
    share = value / float(ceilings.mean())

    interval = share_interval = None
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
        "evidence": profile.evidence(),
    }


def _fitted_utility(
    behaviour: Behaviour, utilities: Linear, clusters: Indices, rng: np.random.Generator
) -> dict[str, Any]:
    fit = LinearFit(behaviour, utilities.values(behaviour.scene.mdp))
    weights = fit.fit(np.ones(len(clusters)), np.zeros(len(utilities.features)))
    scores = fit.scores(weights)
    held_out = None
    middle = scores
    if clusters.any():
        held_out = fit.cross_fitted(clusters, weights, FOLDS, rng)
        middle = (scores + held_out) / 2
    per_episode = cluster_mean(middle, clusters, rng)
    share = cluster_ratio(middle, _ceilings(behaviour), clusters, rng)
    return {
        "value": max(0.0, per_episode.value),
        "interval": _at_least_0(per_episode.interval),
        "share": max(0.0, share.value),
        "share_interval": _at_least_0(share.interval),
        "plug_in": float(scores.mean()),
        "cross_fitted": None if held_out is None else float(held_out.mean()),
        "beta": 1.0,
        "weights": weights,
        "evidence": None,
    }


def _ceilings(behaviour: Behaviour) -> Floats:
    """Return (N,) the most nats that the decisions of each episode can have."""
    return behaviour.sample.n_decisions * log(behaviour.n_actions)


def _folded(interval: Interval | None) -> Interval | None:
    """Return what the interval of a signed number says of its magnitude."""
    if interval is None:
        return None
    low, high = sorted(map(abs, interval))
    return (0.0 if interval[0] < 0 < interval[1] else low), high


def _stretched(interval: Interval | None, value: float) -> Interval | None:
    """Stretch the interval, which is that of `plug_in`, to hold the value, which a large correction may move out."""
    return None if interval is None else (min(interval[0], value), max(interval[1], value))


def _at_least_0(interval: Interval | None) -> Interval | None:
    return None if interval is None else (max(0.0, interval[0]), max(0.0, interval[1]))


def optimal_share(episodes: Sequence[Episode]) -> float:
    """Return the MEG of an optimal agent in the same worlds, as a share of the ceiling, ln |A| a decision.

    It is less than 1 where there are several best actions. Of the optimal policies it is the one of most causal
    entropy, the least goal-directed of them. It begins where the worlds do and plays each as often as the episodes do.
    0 where optimal agents decide nothing.
    """
    sample = Sample.of(episodes)
    scene, reward = sample.pursuing(own_reward)
    dynamics = scene.dynamics
    decided = np.zeros(scene.mdp.n_states)
    for step in backwards(dynamics, dynamics.utility(reward), int(scene.decisions.to_go.max(initial=1))):
        decided = dynamics.going * (1 + (step.policy * dynamics.ahead(decided)).sum(axis=0))
        nats = -step.limits.entropy

    # The start of joined worlds weighs all worlds alike; here each counts as often as it was played.
    played = scene.mdp.start * np.repeat(sample.plays, [world.n_states for world in sample.worlds])
    decisions = float(played @ decided)
    return float(played @ nats) / (decisions * log(dynamics.n_actions)) if decisions else 0.0
