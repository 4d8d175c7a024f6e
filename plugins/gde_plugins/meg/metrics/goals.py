"""Goal-directedness of the agent of a run: towards its goal, towards other things, towards anything."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isinf

from scipy.special import softmax

from gde.data.evidence import Evidence
from gde.data.json import Labels
from gde.data.result import Measurement
from gde.errors import GdeError
from gde.numerics.stats import cluster_mean
from gde.seeding import generator
from gde_plugins.meg.metrics.recorded import observed
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.trajectories.estimation import SampledMeg, from_trajectories, optimal_share
from gde_plugins.meg.trajectories.habits import habits
from gde_plugins.meg.trajectories.linear_utility import Linear, held_out
from gde_plugins.meg.trajectories.placebo import beyond_placebo
from gde_plugins.meg.trajectories.sample import Sample
from gde_plugins.meg.trajectories.utilities import menu

CHANCE = "none"
"""The utility of an agent that is after nothing."""


def known(evidence: Evidence, deadline: bool = False) -> Sequence[Measurement]:
    """MEG towards the reward of the world's model (MacDermott et al. 2024, Definition 3.2), from the episodes played.

    "meg.known" in nats an episode; ".share" of the most that so many decisions can have; ".of_optimal" that share, of
    the share that an optimal agent has in the same worlds, which compares between worlds; ".beta" the rationality, in
    units of 1 / reward, negative where the agent works against it; ".unusable" the decisions without an action, each
    worth 0 nats. Every n but that of ".unusable" counts episodes. A world taken by itself has no ".beta": it is often
    infinite, and a mean over the other worlds would be of none but those where the agent slipped.

    ".beyond" is how many nats more an episode the goal predicts the agent than a placebo goal does, up to where it
    first gets to either, and ".beyond.p" the p value of the hypothesis that the agent is goal-blind, whatever its
    habits; its n counts independent worlds. See `beyond_placebo`. There is none in a world taken by itself.

    With `deadline`, here and below, the agent knows when the episode is cut off; else it plans as if it never were.
    """
    return _measured("meg.known", _known, evidence, deadline)


def unknown(evidence: Evidence, deadline: bool = False) -> Sequence[Measurement]:
    """MEG towards anything that is linear in the state features of all worlds (Definition 4.3), with shared weights.

    Names as for `known`. By feature, scaled to range 1: "meg.unknown.weight", what the agent seems to be after, and
    "meg.unknown.due", how many nats an episode are lost if the utility must do without the feature, both ways with
    weights fitted to other worlds: the pull of a useless key on an agent that is after the goal too. There is none of
    these below 5 independent worlds a feature.
    """
    return _measured("meg.unknown", _unknown, evidence, deadline)


def towards(evidence: Evidence, deadline: bool = False) -> Sequence[Measurement]:
    """MEG towards every state feature that all worlds have, negative where the agent avoids it, and what it is after.

    "meg.to" by "utility", with ".share" as for `known`. "meg.to.posterior" is the probability that
    the agent is after this feature and nothing else, given that it is after one of them, follows one of the
    `habits`, which are named so, or, "none", acts at random; a priori all are equally likely; for rationality see
    `SampledMeg.evidence`.
    """
    return _measured("meg.to", _each, evidence, deadline)


def _measured(
    name: str,
    measure: Callable[[Sequence[Episode], Evidence], Sequence[Measurement]],
    evidence: Evidence,
    deadline: bool,
) -> Sequence[Measurement]:
    try:
        return measure(observed(evidence, deadline), evidence)
    except (GdeError, ValueError) as error:
        return [Measurement(name=name, value=None, unit="nats", n=0, reason=str(error))]


def _known(episodes: Sequence[Episode], evidence: Evidence) -> Sequence[Measurement]:
    found = from_trajectories(episodes, rng=generator(evidence.seed, "metric", "meg.known"))
    unusable = Measurement(name="meg.known.unusable", value=float(found.n_unusable), unit="count", n=found.n_decisions)
    if "world" in evidence.part:
        return [*_sizes("meg.known", found, {}), unusable]
    sizes = [*_sizes("meg.known", found, {}), _of_optimal(found, episodes)]
    return [*sizes, _beta(found), unusable, *_beyond(episodes, evidence.seed)]


def _of_optimal(found: SampledMeg, episodes: Sequence[Episode]) -> Measurement:
    most = optimal_share(episodes) if found.share is not None else 0.0
    reason = found.reason or ("" if most > 0 else "an optimal agent is no more goal-directed than chance here")
    return Measurement(
        name="meg.known.of_optimal",
        value=None if reason or found.share is None else found.share / most,
        unit="share",
        n=found.n,
        interval=None
        if reason or found.share_interval is None
        else (found.share_interval[0] / most, found.share_interval[1] / most),
        reason=reason,
    )


def _beyond(episodes: Sequence[Episode], seed: int) -> Iterator[Measurement]:
    name = "meg.known.beyond"
    try:
        found = beyond_placebo(episodes, generator(seed, "metric", name))
    except ValueError as error:
        yield Measurement(name=name, value=None, unit="nats", n=0, reason=str(error))
        return
    yield found.estimate.measurement(name, "nats")
    yield Measurement(
        name=f"{name}.p",
        value=found.finding.p_value,
        unit="probability",
        n=found.estimate.n_clusters,
        reason=found.finding.reason,
    )


def _unknown(episodes: Sequence[Episode], evidence: Evidence) -> Sequence[Measurement]:
    features, seed = _features(episodes), evidence.seed
    found = from_trajectories(episodes, Linear(features), rng=generator(seed, "metric", "meg.unknown"))
    sizes = [*_sizes("meg.unknown", found, {})]
    if found.reason or found.weights is None:
        parts = ("meg.unknown.weight", "meg.unknown.due")
        return [*sizes, *(Measurement(name=each, value=None, unit="nats", n=0, reason=found.reason) for each in parts)]
    weights = (
        Measurement(name="meg.unknown.weight", value=float(w), unit="nats", n=found.n, where={"feature": name})
        for name, w in zip(features, found.weights, strict=True)
    )
    return [*sizes, *weights, *_due(episodes, features, seed)]


def _each(episodes: Sequence[Episode], evidence: Evidence) -> Sequence[Measurement]:
    found = {name: _towards(episodes, name, evidence.seed) for name in _features(episodes)}
    sizes = [each for name in found for each in _sizes("meg.to", found[name], {"utility": name})]
    return [*sizes, *_posterior(found, episodes)]


def _features(episodes: Sequence[Episode]) -> tuple[str, ...]:
    if features := menu(Sample.of(episodes).worlds):
        return tuple(features)
    raise GdeError("the models of the worlds share no label that differs between states")


def _due(episodes: Sequence[Episode], features: tuple[str, ...], seed: int) -> Iterator[Measurement]:
    key, groups = ("metric", "meg.unknown.due"), Sample.of(episodes).clusters
    kept = held_out(episodes, features, generator(seed, *key))
    for name in features:
        left = held_out(episodes, tuple(each for each in features if each != name), generator(seed, *key))
        estimate = cluster_mean(kept - left, groups, generator(seed, *key, name))
        yield replace(estimate.measurement("meg.unknown.due", "nats"), where={"feature": name})


def _towards(episodes: Sequence[Episode], name: str, seed: int) -> SampledMeg:
    return from_trajectories(episodes, name, rng=generator(seed, "metric", "meg.to", name), signed=True)


def _posterior(found: dict[str, SampledMeg], episodes: Sequence[Episode]) -> Iterator[Measurement]:
    evidence = {name: 0.0 if each.evidence is None else each.evidence for name, each in found.items()}
    n = next(iter(found.values())).n
    for name, probability in posterior(evidence, episodes).items():
        where: Labels = {"utility": name}
        yield Measurement(name="meg.to.posterior", value=probability, unit="probability", n=n, where=where)


def posterior(evidence: Mapping[str, float], episodes: Sequence[Episode]) -> dict[str, float]:
    """Probabilities of what is pursued, of habits and of random choice, given the evidence for each pursuit."""
    alternatives = {**evidence, **habits(episodes), CHANCE: 0.0}
    return dict(zip(alternatives, softmax([*alternatives.values()]).tolist(), strict=True))


def _sizes(name: str, found: SampledMeg, where: Labels) -> Iterator[Measurement]:
    for suffix, value, interval, unit in (
        ("", found.value, found.interval, "nats"),
        (".share", found.share, found.share_interval, "share"),
    ):
        yield Measurement(
            name=name + suffix,
            value=value,
            unit=unit,
            n=found.n,
            interval=interval,
            where=where,
            reason=found.reason,
        )


def _beta(found: SampledMeg) -> Measurement:
    reason = found.reason
    if not reason and isinf(found.beta):
        extreme = "most" if found.beta > 0 else "least"
        reason = f"infinite: every episode is compatible with going for the {extreme} reward possible"
    return Measurement(
        name="meg.known.beta", value=None if reason else found.beta, unit="1 / reward", n=found.n, reason=reason
    )
