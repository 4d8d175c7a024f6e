"""Goal-directedness of the agent of a run: towards its reward, towards single features,
towards any utility.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import isinf

from scipy.special import softmax

from gde.data.evidence import Evidence
from gde.data.json import Labels
from gde.data.result import Measurement
from gde.errors import GdeError
from gde.numerics.episodes import unmeasured
from gde.numerics.stats import cluster_mean
from gde.parts.metric import Metric
from gde.seeding import generator
from gde_plugins.meg.config import KnownConfig, MegConfig
from gde_plugins.meg.metrics.recorded import are_tabulated, explored, observed
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.trajectories.estimation import (
    SampledMeg,
    from_explored,
    from_trajectories,
    optimal_share,
)
from gde_plugins.meg.trajectories.habits import habits
from gde_plugins.meg.trajectories.linear_utility import Linear, held_out
from gde_plugins.meg.trajectories.sample import Sample
from gde_plugins.meg.trajectories.utilities import menu

STATES = 5000
"""Most states of a world that is explored."""
CHANCE = "none"
"""The utility of an agent that pursues nothing."""


def measures_known(config: KnownConfig) -> Metric:
    """Make the metric `meg-known`."""
    return partial(known, deadline=config.deadline, states=config.states)


def measures_towards(config: MegConfig) -> Metric:
    """Make the metric `meg-to`."""
    return partial(towards, deadline=config.deadline)


def measures_unknown(config: MegConfig) -> Metric:
    """Make the metric `meg-unknown`."""
    return partial(unknown, deadline=config.deadline)


def known(
    evidence: Evidence, deadline: bool = False, states: int = STATES
) -> Sequence[Measurement]:
    """Measure MEG towards the reward of the world's model (MacDermott et al. 2024,
    Definition 3.2).

    - "meg.known": nats an episode.
    - ".share": as a share of the ceiling of so many decisions.
    - ".of_optimal": that share relative to the share of an optimal agent in the same
      worlds, to compare worlds.
    - ".beta": the rationality, in units of 1 / reward, negative where the agent works
      against the reward.
    - ".unusable": the number of decisions without an action, each worth 0 nats.

    Every n counts episodes, that of ".unusable" decisions. A single world has no
    ".beta": it is often infinite, and a mean over the other worlds would select those
    where the agent slipped.

    With `deadline`, in all metrics of this module, the agent knows when the episode is
    cut off. Else it plans as if it never were.

    A world without a model is explored, if it has at most so many states. Every step
    then costs one until the goal.
    """
    name = "meg.known"
    rng = generator(evidence.seed, "metric", name)
    try:
        if are_tabulated(evidence):
            episodes = observed(evidence, deadline)
            found = from_trajectories(episodes, rng=rng)
            most: Callable[[], float] = partial(optimal_share, episodes)
        else:
            behaviour, clusters = explored(evidence, states)
            found = from_explored(behaviour, clusters, rng)
            most = behaviour.optimal_share
    except (GdeError, ValueError) as error:
        return [unmeasured(name, str(error))]
    return _known(found, most, "world" in evidence.part)


def unknown(evidence: Evidence, deadline: bool = False) -> Sequence[Measurement]:
    """Measure MEG towards any utility linear in the state features (Definition 4.3),
    with weights shared by all worlds.

    Names as for `known`, and by feature, scaled to range 1: "meg.unknown.weight", the
    fitted weight, and "meg.unknown.due", the nats an episode that are lost without the
    feature, both ways with weights fitted to other worlds. There are none below 5
    independent worlds a feature.
    """
    return _measured("meg.unknown", _unknown, evidence, deadline)


def towards(evidence: Evidence, deadline: bool = False) -> Sequence[Measurement]:
    """Measure MEG towards every state feature that all worlds have, negative where the
    agent avoids it.

    "meg.to" by "utility", with ".share" as for `known`. "meg.to.posterior" is the
    probability that the agent pursues this feature alone, given that it pursues one of
    them, follows one of the `habits`, which are named too, or, "none", acts at random.
    A priori all are equally likely; for the rationality see `SampledMeg.evidence`.
    """
    return _measured("meg.to", _towards_each, evidence, deadline)


def _measured(
    name: str,
    measure: Callable[[Sample, Evidence], Sequence[Measurement]],
    evidence: Evidence,
    deadline: bool,
) -> Sequence[Measurement]:
    try:
        return measure(observed(evidence, deadline), evidence)
    except (GdeError, ValueError) as error:
        return [unmeasured(name, str(error))]


def _known(
    found: SampledMeg, most: Callable[[], float], is_world: bool
) -> Sequence[Measurement]:
    sizes = [*_sizes("meg.known", found, {})]
    unusable = Measurement(
        name="meg.known.unusable", value=float(found.n_unusable), n=found.n_decisions
    )
    if is_world:
        return [*sizes, unusable]
    return [*sizes, _of_optimal(found, most), _beta(found), unusable]


def _of_optimal(found: SampledMeg, optimal: Callable[[], float]) -> Measurement:
    value = None
    interval = None
    reason = found.reason
    if found.share is not None and not reason:
        most = optimal()
        if most > 0:
            value = found.share / most
            if found.share_interval is not None:
                low, high = found.share_interval
                interval = (low / most, high / most)
        else:
            reason = "an optimal agent is no more goal-directed than chance here"
    return Measurement(
        name="meg.known.of_optimal",
        value=value,
        n=found.n,
        clusters=found.n_clusters,
        interval=interval,
        reason=reason,
    )


def _unknown(episodes: Sample, evidence: Evidence) -> Sequence[Measurement]:
    features = _features(episodes)
    rng = generator(evidence.seed, "metric", "meg.unknown")
    found = from_trajectories(episodes, Linear(features), rng=rng)
    measurements = [*_sizes("meg.unknown", found, {})]
    if found.reason or found.weights is None:
        measurements.append(unmeasured("meg.unknown.weight", found.reason))
        measurements.append(unmeasured("meg.unknown.due", found.reason))
        return measurements

    for name, weight in zip(features, found.weights, strict=True):
        fitted = Measurement(
            name="meg.unknown.weight",
            value=float(weight),
            n=found.n,
            clusters=found.n_clusters,
            where={"feature": name},
        )
        measurements.append(fitted)
    measurements += _due(episodes, features, evidence.seed)
    return measurements


def _due(
    episodes: Sample, features: tuple[str, ...], seed: int
) -> Iterator[Measurement]:
    """Yield the nats that each feature adds in worlds that the weights were not fitted
    to.
    """
    key = ("metric", "meg.unknown.due")
    # The same seed gives the same folds, so that differences are paired.
    complete = held_out(episodes, features, generator(seed, *key))
    for name in features:
        others = tuple(each for each in features if each != name)
        without = held_out(episodes, others, generator(seed, *key))
        lost = complete - without
        estimate = cluster_mean(lost, episodes.clusters, generator(seed, *key, name))
        yield estimate.measurement("meg.unknown.due", {"feature": name})


def _towards_each(episodes: Sample, evidence: Evidence) -> Sequence[Measurement]:
    found = {}
    for name in _features(episodes):
        rng = generator(evidence.seed, "metric", "meg.to", name)
        found[name] = from_trajectories(episodes, name, rng=rng, signed=True)
    measurements: list[Measurement] = []
    for name, meg in found.items():
        measurements += _sizes("meg.to", meg, {"utility": name})

    # A pursuit without evidence predicts as well as random choice, whose log-likelihood
    # ratio is zero.
    n = len(episodes)
    of_pursuits = {name: meg.evidence or 0.0 for name, meg in found.items()}
    for name, probability in posterior(of_pursuits, episodes).items():
        where: Labels = {"utility": name}
        measurement = Measurement(
            name="meg.to.posterior", value=probability, n=n, where=where
        )
        measurements.append(measurement)
    return measurements


def posterior(
    evidence: Mapping[str, float], episodes: Sequence[Episode]
) -> dict[str, float]:
    """Return the probabilities of pursuits, of habits and of random choice, given the
    evidence for each pursuit.
    """
    # With equal priors the log-likelihood ratios to random choice are the log-odds.
    alternatives = {**evidence, **habits(episodes), CHANCE: 0.0}
    probabilities = softmax([*alternatives.values()])
    return dict(zip(alternatives, probabilities.tolist(), strict=True))


def _features(episodes: Sample) -> tuple[str, ...]:
    features = menu(episodes.worlds)
    if not features:
        raise GdeError(
            "the models of the worlds share no label that differs between states"
        )
    return tuple(features)


def _sizes(name: str, found: SampledMeg, where: Labels) -> Iterator[Measurement]:
    """Yield the nats an episode, and the same as a share of the ceiling."""
    yield Measurement(
        name=name,
        value=found.value,
        n=found.n,
        clusters=found.n_clusters,
        interval=found.interval,
        where=where,
        reason=found.reason,
    )
    yield Measurement(
        name=f"{name}.share",
        value=found.share,
        n=found.n,
        clusters=found.n_clusters,
        interval=found.share_interval,
        where=where,
        reason=found.reason,
    )


def _beta(found: SampledMeg) -> Measurement:
    reason = found.reason
    if not reason and isinf(found.beta):
        extreme = "most" if found.beta > 0 else "least"
        reason = f"infinite: every episode is compatible with going for the {extreme} reward possible"
    return Measurement(
        name="meg.known.beta",
        value=None if reason else found.beta,
        n=found.n,
        clusters=found.n_clusters,
        reason=reason,
    )
