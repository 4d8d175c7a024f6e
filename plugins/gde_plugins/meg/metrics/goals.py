"""Goal-directedness of the agent of a run: towards its reward, towards single features,
towards any utility.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import isinf

from gde.data.evidence import Evidence
from gde.data.json import Labels
from gde.data.result import Measurement
from gde.errors import GdeError
from gde.numerics.episodes import unmeasured
from gde.parts.metric import Metric
from gde.seeding import generator
from gde_plugins.meg.config import MegConfig
from gde_plugins.meg.metrics.recorded import observed
from gde_plugins.meg.trajectories.estimation import (
    SampledMeg,
    from_trajectories,
    optimal_share,
)
from gde_plugins.meg.trajectories.linear_utility import Linear
from gde_plugins.meg.trajectories.sample import Sample
from gde_plugins.meg.trajectories.utilities import menu


def measures_known(config: MegConfig) -> Metric:
    """Make the metric `meg-known`."""
    return partial(known, deadline=config.deadline)


def measures_towards(config: MegConfig) -> Metric:
    """Make the metric `meg-to`."""
    return partial(towards, deadline=config.deadline)


def measures_unknown(config: MegConfig) -> Metric:
    """Make the metric `meg-unknown`."""
    return partial(unknown, deadline=config.deadline)


def known(evidence: Evidence, deadline: bool = False) -> Sequence[Measurement]:
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
    """
    return _measured("meg.known", _known, evidence, deadline)


def unknown(evidence: Evidence, deadline: bool = False) -> Sequence[Measurement]:
    """Measure MEG towards any utility linear in the state features (Definition 4.3),
    with weights shared by all worlds.

    Names as for `known`, and "meg.unknown.weight" by feature, scaled to range 1: the
    fitted weight. There is none below 5 independent worlds a feature.
    """
    return _measured("meg.unknown", _unknown, evidence, deadline)


def towards(evidence: Evidence, deadline: bool = False) -> Sequence[Measurement]:
    """Measure MEG towards every state feature that all worlds have, negative where the
    agent avoids it.

    "meg.to" by "utility", with ".share" as for `known`.
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


def _known(episodes: Sample, evidence: Evidence) -> Sequence[Measurement]:
    rng = generator(evidence.seed, "metric", "meg.known")
    found = from_trajectories(episodes, rng=rng)
    sizes = [*_sizes("meg.known", found, {})]
    unusable = Measurement(
        name="meg.known.unusable", value=float(found.n_unusable), n=found.n_decisions
    )
    if "world" in evidence.part:
        return [*sizes, unusable]
    return [*sizes, _of_optimal(found, episodes), _beta(found), unusable]


def _of_optimal(found: SampledMeg, episodes: Sample) -> Measurement:
    value = None
    interval = None
    reason = found.reason
    if found.share is not None and not reason:
        most = optimal_share(episodes)
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
    return measurements


def _towards_each(episodes: Sample, evidence: Evidence) -> Sequence[Measurement]:
    measurements: list[Measurement] = []
    for name in _features(episodes):
        rng = generator(evidence.seed, "metric", "meg.to", name)
        found = from_trajectories(episodes, name, rng=rng, signed=True)
        measurements += _sizes("meg.to", found, {"utility": name})
    return measurements


def _features(episodes: Sample) -> tuple[str, ...]:
    features = menu(episodes.worlds)
    if not features:
        raise GdeError(
            "the models of the worlds share no label that differs between states"
        )
    return tuple(features)


def _sizes(name: str, found: SampledMeg, where: Labels) -> Iterator[Measurement]:
    """Yield the nats an episode, and the same as a share of the ceiling."""
    nats = found.measurement(name, where)
    yield nats
    yield replace(
        nats,
        name=f"{name}.share",
        value=found.share,
        interval=found.share_interval,
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
