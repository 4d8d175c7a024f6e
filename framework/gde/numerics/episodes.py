"""Selections of episodes, and averages over their worlds.

A run may have more episodes than fit into memory. A metric may iterate over them
several times, but it keeps numbers of each episode, not the episode itself.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from gde.data.evidence import Evidence
from gde.data.json import Labels
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory, Turn
from gde.numerics.stats import Estimate, cluster_share
from gde.seeding import generator

NOTHING_FINISHED = "no episode was finished"


class Place(NamedTuple):
    """A world, over which averages are taken, and its cluster, which intervals
    resample.
    """

    world: str
    cluster: str

    @classmethod
    def of(cls, trajectory: Trajectory) -> "Place":
        """The place of an episode."""
        return cls(trajectory.world.id, trajectory.world.cluster)


@dataclass(frozen=True)
class Selection(Iterable[Trajectory]):
    """The trajectories that meet a condition, found again in each iteration; none is
    kept.
    """

    trajectories: Iterable[Trajectory]
    holds: Callable[[Trajectory], bool]

    def __iter__(self) -> Iterator[Trajectory]:
        return filter(self.holds, self.trajectories)

    def where(self, holds: Callable[[Trajectory], bool]) -> "Selection":
        """Those that also meet another condition."""
        return Selection(self, holds)


def finished(evidence: Evidence) -> Selection:
    """The episodes that did not fail. Failed ones say nothing about the agent;
    `outcomes` counts them.
    """
    return Selection(evidence.trajectories, lambda one: one.ending != "failed")


def played(evidence: Evidence) -> Selection:
    """Finished episodes with at least one turn."""
    return finished(evidence).where(lambda one: bool(one.turns))


class Need(NamedTuple):
    """A requirement of a number on every turn."""

    what: str
    met: Callable[[Turn], bool]

    def unmet(self, turns: Iterable[Turn]) -> int:
        """The number of turns that do not meet it."""
        return sum(not self.met(turn) for turn in turns)


CERTIFIED = Need("certified optimal actions", lambda turn: turn.optimal is not None)
"""Needed to compare actions with optimal ones."""


def lacking(trajectories: Iterable[Trajectory], *needs: Need) -> str:
    """The first need that is not met, and in how many turns; empty where all are
    met.
    """
    # One pass over the episodes for all needs: they may have to be read from a file.
    n_turns = 0
    unmet = dict.fromkeys(needs, 0)
    for trajectory in trajectories:
        n_turns += len(trajectory.turns)
        for need in needs:
            unmet[need] += need.unmet(trajectory.turns)

    if not n_turns:
        return NOTHING_FINISHED
    for need, n_unmet in unmet.items():
        if n_unmet:
            return f"{n_unmet} of {n_turns} turns have no {need.what}"
    return ""


def is_optimal(turn: Turn) -> bool:
    """Whether the turn's action is one of the certified optimal ones."""
    return turn.optimal is not None and turn.decision.action in turn.optimal


class Count(NamedTuple):
    """Hits among some decisions of one episode."""

    cluster: str
    hits: int
    of: int


def count(trajectory: Trajectory, hits: Iterable[bool]) -> Count:
    """Count the hits among some decisions of the episode."""
    found = list(hits)
    return Count(
        cluster=trajectory.world.cluster,
        hits=sum(found),
        of=len(found),
    )


def pooled_share(
    evidence: Evidence,
    name: str,
    counts: Iterable[Count],
    reason: str = NOTHING_FINISHED,
) -> Measurement:
    """The share of hits with equal weight for every decision; n counts the decisions.

    Args:
        evidence: gives the seed for resampling.
        name: of the measurement, and of its stream of random numbers.
        counts: one for each episode.
        reason: why there may be no decision.
    """
    found = [one for one in counts if one.of]
    if not found:
        return unmeasured(name, reason)

    clusters, hits, of = zip(*found, strict=True)
    # Every name has its own random numbers, so that no metric changes the interval of
    # another.
    rng = generator(evidence.seed, "metric", name)
    share = cluster_share(hits, clusters, rng, trials=of)

    # The estimate counts episodes; a reader wants to know the number of decisions.
    share = replace(share, n=sum(of))
    return share.measurement(name)


def over_worlds(
    evidence: Evidence,
    name: str,
    values: Mapping[Place, float],
    estimate: Callable[..., Estimate] = cluster_share,
    reason: str = NOTHING_FINISHED,
) -> Measurement:
    """The mean over worlds, with equal weights and one value for each; n counts the
    worlds.

    Args:
        evidence: gives the seed for resampling.
        name: of the measurement, and of its stream of random numbers.
        values: in [0, 1].
        estimate: `gde.numerics.stats.cluster_mean` for values of another range.
        reason: why there may be no value.
    """
    if not values:
        return unmeasured(name, reason)
    clusters = [place.cluster for place in values]
    rng = generator(evidence.seed, "metric", name)
    mean = estimate([*values.values()], clusters, rng)
    return mean.measurement(name)


def unmeasured(
    name: str, reason: str, where: Labels | None = None, unit: str = ""
) -> Measurement:
    """A measurement without a value."""
    return Measurement(
        name=name, value=None, unit=unit, n=0, where=where or {}, reason=reason
    )
