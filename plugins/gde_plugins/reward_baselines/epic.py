"""How far are predicted rewards from certified progress?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.reward import RewardTrace
from gde.data.trajectory import Trajectory
from gde.numerics.episodes import NOTHING_FINISHED, Place, by_world, finished, over_worlds, unmeasured
from gde.numerics.stats import Floats, cluster_mean
from gde_plugins.reward_baselines.account import account
from gde_plugins.reward_baselines.truth import is_recorded, truth, unknown

EPIC, UNJUDGED, ONE_SIDED = "epic", "epic.unjudged", "epic.one_sided"
UNIT = "distance"
SIDE = "side"
"""The label of a recorded world that tells a success from a failure."""
Traces = Mapping[str, RewardTrace]
"""A reward model's traces by episode."""


def epic(evidence: Evidence) -> Sequence[Measurement]:
    """EPIC distance of each reward model's rewards from the truth (Shen et al. 2026, eq. 3), 0 to 1; n counts worlds.

    The distance is sqrt((1 - r) / 2) with Pearson's r: 0 for rewards that are the truth up to scale and shift, 0.71 for
    unrelated ones, 1 for the opposite. The truth is what the states of a benchmark record (`truth.REWARD`), else
    progress along the certified value, see `progress`: the cost of reaching the goal before a turn, as the share of
    that before the first which is no longer left; linear in the turns of an optimal episode.

    As in the authors' released code, the episodes of one task are joined to one pair of series with one distance; the
    distances are averaged over tasks. A constant series has r = 0, unless both are the same number for number: then
    r = 1. A task of recorded truth is a cluster of worlds, e.g. a success and a failure at the same; one that has not
    both is left out, as there, and counted by "epic.one_sided". Elsewhere a task is a world, and all of them count.

    "epic.unjudged" is the share of finished episodes for which the reward model gave nothing: they are left out. How
    the rewards came about is told by `account`.
    """
    trajectories = [one for one in finished(evidence) if one.turns]
    judged: dict[str, dict[str, RewardTrace]] = {}
    for trace in evidence.reward_traces:
        judged.setdefault(trace.model, {})[trace.episode] = trace
    if reason := _unmeasurable(trajectories, judged):
        return [unmeasured(EPIC, UNIT, reason)]
    distances = [
        replace(one, where={"reward": model})
        for model, traces in judged.items()
        for one in _of_model(evidence, trajectories, {key: one for key, one in traces.items() if not one.failure})
    ]
    return [*distances, *account(judged)]


def distance(predicted: Floats, truth: Floats) -> float:
    """EPIC distance of two series (N,): sqrt((1 - r) / 2), with the conventions of `epic`."""
    if np.array_equal(predicted, truth):
        return 0.0
    if np.ptp(predicted) == 0 or np.ptp(truth) == 0:
        return float(np.sqrt(0.5))
    return float(np.sqrt((1 - np.clip(_pearson(predicted, truth), -1, 1)) / 2))


def _pearson(a: Floats, b: Floats) -> float:
    """Of series that vary, each brought to the size of 1 first so that no square overflows or vanishes."""
    a, b = ((each - each.mean()) / np.abs(each - each.mean()).max() for each in (a, b))
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def _unmeasurable(trajectories: Sequence[Trajectory], judged: Mapping[str, Traces]) -> str:
    if not judged:
        return "no reward model has judged an episode"
    if not trajectories:
        return NOTHING_FINISHED
    lacking = [reason for one in trajectories if (reason := unknown(one))]
    return f"{len(lacking)} of {len(trajectories)} episodes have no certified progress: {lacking[0]}" if lacking else ""


def _of_model(evidence: Evidence, trajectories: Sequence[Trajectory], traces: Traces) -> Iterator[Measurement]:
    known = [one for one in trajectories if str(one.key) in traces]
    tasks = _tasks(known)
    whole = {place: of for place, of in tasks.items() if not is_recorded(of[0]) or len({*map(_side, of)}) == 2}
    distances = {place: _of_task(of, traces) for place, of in whole.items()}
    if distances:
        yield over_worlds(evidence, EPIC, UNIT, distances, cluster_mean)
    else:
        no_pair = "no task has both a success and a failure that were judged; env.share takes whole tasks"
        yield unmeasured(EPIC, UNIT, no_pair if tasks else "the reward model gave rewards for none of the episodes")
    everything = _tasks(trajectories)
    if any(is_recorded(one) for one in trajectories):
        yield over_worlds(evidence, ONE_SIDED, "share", {place: float(place not in whole) for place in everything})
    unjudged = {place: sum(str(one.key) not in traces for one in of) / len(of) for place, of in everything.items()}
    yield over_worlds(evidence, UNJUDGED, "share", unjudged)


def _tasks(trajectories: Sequence[Trajectory]) -> dict[Place, list[Trajectory]]:
    """The episodes whose series are joined."""
    return by_world((_task(one), one) for one in trajectories)


def _task(one: Trajectory) -> Place:
    return Place(one.world.cluster, one.world.cluster) if is_recorded(one) else Place.of(one)


def _side(one: Trajectory) -> str | bool:
    """Success or failure: as the record says it, else as the episode ended."""
    side = one.world.labels.get(SIDE)
    return side if isinstance(side, str) else bool(one.succeeded)


def _of_task(trajectories: Sequence[Trajectory], traces: Traces) -> float:
    predicted = np.concatenate([traces[str(one.key)].values for one in trajectories])
    return distance(predicted, np.concatenate([truth(one) for one in trajectories]))
