"""EPIC distance of predicted rewards from the true ones."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from gde.data.arrays import Doubles
from gde.data.evidence import Evidence
from gde.data.grouping import collected
from gde.data.result import Measurement
from gde.data.reward import RewardTrace
from gde.data.trajectory import Trajectory
from gde.numerics.episodes import (
    NOTHING_FINISHED,
    Place,
    over_worlds,
    played,
    unmeasured,
)
from gde.numerics.stats import cluster_mean
from gde_plugins.reward_baselines.account import account
from gde_plugins.reward_baselines.models import (
    is_recorded,
    is_success,
    truth,
    unknown,
)

EPIC = "epic"
UNJUDGED = "epic.unjudged"
ONE_SIDED = "epic.one_sided"
UNVARIED = "epic.unvaried"
ROUNDING = 1e-12
Traces = Mapping[str, RewardTrace]
"""A reward model's traces by episode."""


def epic(evidence: Evidence) -> Sequence[Measurement]:
    """EPIC distance of each reward model's rewards from the truth (Shen et al. 2026,
    eq. 3), 0 to 1; n counts worlds.

    The distance is sqrt((1 - r) / 2) with Pearson's r: 0 for rewards that are the truth
    up to scale and shift, 0.71 for unrelated ones, 1 for the opposite. The truth is
    what the states of a benchmark record (`truth.REWARD`), else progress along the
    certified value, see `progress`: the cost of reaching the goal before a turn, as the
    share of that before the first which is no longer left; linear in the turns of an
    optimal episode.

    As in the authors' released code, the episodes of one task are joined to one pair of
    series with one distance; the distances are averaged over tasks. A constant series
    has r = 0, unless both are the same number for number: then r = 1. A task of
    recorded truth is a cluster of worlds, e.g. a success and a failure at the same; one
    that has not both is left out, as there, and counted by "epic.one_sided". Elsewhere
    a task is a world; one without any progress, beside which a constant would be the
    truth or unrelated by its number alone, is left out and counted by "epic.unvaried".

    "epic.unjudged" is the share of finished episodes without rewards of the reward
    model, which are left out. `account` adds how the rewards were made.
    """
    trajectories = list(played(evidence))
    judged: dict[str, dict[str, RewardTrace]] = {}
    for trace in evidence.reward_traces:
        judged.setdefault(trace.model, {})[trace.episode] = trace
    reason = _unmeasurable(trajectories, judged)
    if reason:
        return [unmeasured(EPIC, reason)]

    measured: list[Measurement] = []
    for model, traces in judged.items():
        usable = {
            episode: trace for episode, trace in traces.items() if not trace.failure
        }
        for one in _of_model(evidence, trajectories, usable):
            measured.append(replace(one, where={"reward": model}))
    return [*measured, *account(judged)]


def distance(predicted: Doubles, truth: Doubles) -> float:
    """EPIC distance of two series (N,): sqrt((1 - r) / 2), with the conventions of
    `epic`.
    """
    if np.array_equal(predicted, truth):
        return 0.0
    if np.ptp(predicted) == 0 or np.ptp(truth) == 0:
        return float(np.sqrt(0.5))
    # Rounding can carry a perfect correlation beyond one.
    correlation = np.clip(_pearson(predicted, truth), -1, 1)
    apart = 1 - correlation
    # The root would make rounding errors of a perfect correlation a distance of 1e-8.
    return float(np.sqrt(apart / 2)) if apart > ROUNDING else 0.0


def _pearson(a: Doubles, b: Doubles) -> float:
    """Correlation of two series that vary."""
    a = _centred(a)
    b = _centred(b)
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def _centred(series: Doubles) -> Doubles:
    """The series with mean 0 and greatest size 1, so that no square overflows or
    vanishes.
    """
    centred = series - series.mean()
    scaled: Doubles = centred / np.abs(centred).max()
    return scaled


def _unmeasurable(
    trajectories: Sequence[Trajectory], judged: Mapping[str, Traces]
) -> str:
    if not judged:
        return "no reward model has judged an episode"
    if not trajectories:
        return NOTHING_FINISHED

    reasons = [unknown(one) for one in trajectories]
    found = [reason for reason in reasons if reason]
    if not found:
        return ""
    return f"{len(found)} of {len(trajectories)} episodes have no certified progress: {found[0]}"


def _of_model(
    evidence: Evidence, trajectories: Sequence[Trajectory], traces: Traces
) -> Iterator[Measurement]:
    tasks = by_task([one for one in trajectories if str(one.key) in traces])
    distances = {
        place: _of_task(episodes, traces)
        for place, episodes in tasks.items()
        if _tells(episodes)
    }
    recorded = any(is_recorded(one) for one in trajectories)
    reason = "the reward model gave rewards for none of the episodes"
    if tasks and recorded:
        reason = "no task has both a success and a failure that were judged; env.share takes whole tasks"
    elif tasks:
        reason = "there is no progress in any world that was judged"
    yield over_worlds(evidence, EPIC, distances, cluster_mean, reason)

    all_tasks = by_task(trajectories)
    name, counted = (ONE_SIDED, all_tasks) if recorded else (UNVARIED, tasks)
    left_out = {place: float(place not in distances) for place in counted}
    yield over_worlds(evidence, name, left_out)

    unjudged: dict[Place, float] = {}
    for place, episodes in all_tasks.items():
        n_unjudged = sum(str(one.key) not in traces for one in episodes)
        unjudged[place] = n_unjudged / len(episodes)
    yield over_worlds(evidence, UNJUDGED, unjudged)


def _tells(episodes: Sequence[Trajectory]) -> bool:
    """Whether the truth of a task differs between its turns: a recorded one needs both
    sides.
    """
    if not is_recorded(episodes[0]):
        return bool(np.ptp(np.concatenate([truth(one) for one in episodes])) > 0)
    sides = {is_success(one) for one in episodes}
    return len(sides) == 2


def by_task(trajectories: Iterable[Trajectory]) -> dict[Place, list[Trajectory]]:
    """The episodes of each task, whose series are joined."""
    return collected((_task(one), one) for one in trajectories)


def _task(one: Trajectory) -> Place:
    if is_recorded(one):
        return Place(one.world.cluster, one.world.cluster)
    return Place.of(one)


def _of_task(trajectories: Sequence[Trajectory], traces: Traces) -> float:
    predicted = [traces[str(one.key)].values for one in trajectories]
    true = [truth(one) for one in trajectories]
    return distance(np.concatenate(predicted), np.concatenate(true))
