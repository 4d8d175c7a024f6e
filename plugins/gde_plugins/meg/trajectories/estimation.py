"""Goal-directedness of behaviour that is known from episodes alone (MacDermott et al. 2024, section 3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import copysign, log
from typing import Any

import numpy as np

from gde.data.mdp import Floats
from gde.numerics.stats import Interval, cluster_mean, cluster_ratio
from gde_plugins.meg.solvers.dynamics import Indices
from gde_plugins.meg.trajectories.behaviour import Behaviour
from gde_plugins.meg.trajectories.candidates import Feature, Pursuit, own_reward
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.trajectories.linear import FOLDS, Linear, LinearFit
from gde_plugins.meg.trajectories.rationality import Profile

PER_WEIGHT = 5
"""Fewest clusters for each weight that is fitted. With half as many the value is too low by a fifth, as simulated in
docs/meg-agents.md."""
WITHIN = 5
"""Fewest episodes of a single cluster. With fewer a value that is cut off at 0 is too high: of random agents by 0.1 to
0.25 nats with two episodes, by 0.04 to 0.06 with five."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SampledMeg:
    """Maximum-entropy goal-directedness of the agent behind a sample of episodes."""

    value: float | None
    """Nats an episode: the middle of `plug_in` and `cross_fitted`, but at least 0; free of bias to first order. None,
    as `share`, where there is too little to estimate it from; what is left then only describes these episodes."""
    reason: str
    """Why there is no value; empty otherwise."""
    interval: Interval | None
    """95 %, over clusters; None for a single one: nothing can be said about other worlds."""
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
    """Best rationality, in units of 1 / utility; negative where behaviour avoids the utility, +-inf where nothing but
    optimal actions (or worst ones) were taken. 1 where the utility was fitted."""
    weights: Floats | None
    """(K,) of the features, each scaled to range 1, where the utility was fitted."""
    evidence: float | None
    """Log-likelihood ratio of pursuit against chance, of all episodes together, for a rationality that is not known: a
    priori uniform on the logarithm from 0.1 to 1000, in units of 1 / (largest minus smallest utility), or on to where
    the best lies if that is beyond, or infinite.
    None where the utility was fitted."""
    ceiling: float
    """Nats an episode that so many decisions have at most: ln |A| each, unusable ones included."""
    n: int
    """Episodes."""
    n_clusters: int
    n_decisions: int
    n_unusable: int
    """Decisions without an action; each is worth 0 nats."""

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
    """MEG of the agent whose behaviour in one or many worlds is given; one rationality, or utility, explains all.

    The accuracy of a soft-optimal policy is the mean over episodes of the sum over decisions of
    ln pi(action | state, time) + ln |A|; the MEG is its supremum over the rationality beta in [-inf, inf] (Definition
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
    groups = behaviour.sample.clusters
    found = (
        _unknown(behaviour, pursuit, groups, rng)
        if isinstance(pursuit, Linear)
        else _known(behaviour, groups, rng, signed)
    )
    reason = _too_little(behaviour, pursuit, groups)
    if reason:
        found |= dict.fromkeys(("value", "interval", "share", "share_interval"))
    return SampledMeg(
        **found,
        reason=reason,
        ceiling=float(_ceilings(behaviour).mean()),
        n=len(episodes),
        n_clusters=int(groups.max()) + 1,
        n_decisions=int(behaviour.sample.lengths.sum()),
        n_unusable=behaviour.sample.n_unusable,
    )


def _too_little(behaviour: Behaviour, pursuit: Pursuit | Linear, groups: Indices) -> str:
    """Why these episodes say too little of the agent; empty if they do not."""
    if not len(behaviour.scene.decisions.states):
        return f"none of the {behaviour.sample.n_unusable} decisions names an action"
    if isinstance(pursuit, Linear):
        n, least = int(groups.max()) + 1, PER_WEIGHT * len(pursuit.features)
        weights = f"{len(pursuit.features)} weights ({PER_WEIGHT} each)"
        return "" if n >= least else f"wanted at least {least} independent worlds to fit {weights}, got {n}"
    if groups.any() or len(groups) >= WITHIN:
        return ""
    return f"wanted several worlds, or at least {WITHIN} episodes in the only one, got {len(groups)}"


def _known(behaviour: Behaviour, groups: Indices, rng: np.random.Generator, signed: bool) -> dict[str, Any]:
    n, several = len(groups), bool(groups.any())
    # The agent's episodes in one world are independent given the world, which is all that a single one can tell of.
    units = groups if several else np.arange(n)
    profile, ceilings = Profile.of(behaviour, units), _ceilings(behaviour)
    plug_in = profile.best / n
    cross_fitted = float(profile.cross_fitted().sum()) / n if n > 1 else None
    value = _middle(plug_in, cross_fitted) * (copysign(1.0, profile.beta) if signed else 1.0) or 0.0  # never -0.0
    share = value / float(ceilings.mean())
    per_cluster = [np.bincount(units, weights=per).astype(np.float64) for per in (np.ones(n), ceilings)]
    intervals = profile.intervals(rng, *per_cluster) if several else [None, None]
    interval, share_interval = intervals if signed else map(_folded, intervals)
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


def _unknown(behaviour: Behaviour, utilities: Linear, groups: Indices, rng: np.random.Generator) -> dict[str, Any]:
    fit, n = LinearFit(behaviour, utilities.values(behaviour.scene.mdp)), len(groups)
    weights = fit.fit(np.ones(n), np.zeros(len(utilities.features)))
    scores = fit.scores(weights)
    held_out = fit.cross_fitted(groups, weights, FOLDS, rng) if groups.any() else None
    middle = scores if held_out is None else (scores + held_out) / 2
    per_episode = cluster_mean(middle, groups, rng)
    share = cluster_ratio(middle, _ceilings(behaviour), groups, rng)
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
    """(N,) nats that the decisions of each episode have at most."""
    return behaviour.sample.n_decisions * log(behaviour.n_actions)


def _middle(plug_in: float, cross_fitted: float | None) -> float:
    return plug_in if cross_fitted is None else max(0.0, (plug_in + cross_fitted) / 2)


def _folded(interval: Interval | None) -> Interval | None:
    """What the interval of a signed number says of its magnitude."""
    if interval is None:
        return None
    low, high = sorted(map(abs, interval))
    return (0.0 if interval[0] < 0 < interval[1] else low), high


def _stretched(interval: Interval | None, value: float) -> Interval | None:
    """The interval with the value in it: it is that of `plug_in`, which a large correction may lead out of it."""
    return None if interval is None else (min(interval[0], value), max(interval[1], value))


def _at_least_0(interval: Interval | None) -> Interval | None:
    return None if interval is None else (max(0.0, interval[0]), max(0.0, interval[1]))
