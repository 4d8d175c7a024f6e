"""Shares of all answers and all episodes by their outcome, so that nothing is dropped
unseen.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple, get_args

from gde.data.answer import is_strict
from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.trajectory import STATUSES, Ending, Status, Trajectory
from gde.numerics.episodes import Count, pooled_share

ENDINGS: tuple[Ending, ...] = get_args(Ending)


class _Episode(NamedTuple):
    """The outcome of an episode and of its answers."""

    cluster: str
    ending: Ending
    statuses: Counter[Status]
    """Number of turns by status; empty for a failed episode, which says nothing about
    the agent.
    """
    n_strict: int
    """Number of its usable answers that have exactly the form asked for."""

    @classmethod
    def of(cls, trajectory: Trajectory) -> "_Episode":
        decisions = []
        if trajectory.ending != "failed":
            decisions = [turn.decision for turn in trajectory.turns]
        statuses = Counter(decision.status for decision in decisions)
        n_strict = sum(map(is_strict, decisions))
        return cls(trajectory.world.cluster, trajectory.ending, statuses, n_strict)


def outcomes(evidence: Evidence) -> Sequence[Measurement]:
    """Share of each decision status in the turns of finished episodes, and of each
    ending in all episodes.

    Each kind of shares sums to one. "outcomes.strict" is the part of "outcomes.ok" that
    has exactly the form asked for (`gde.data.answer`). "episodes.failed" counts the episodes that no
    behaviour number uses.
    """
    episodes = [_Episode.of(trajectory) for trajectory in evidence.trajectories]
    return [*_statuses(evidence, episodes), *_endings(evidence, episodes)]


def _statuses(
    evidence: Evidence, episodes: Sequence[_Episode]
) -> Iterator[Measurement]:
    for status in STATUSES:
        counts = []
        for one in episodes:
            counts.append(
                Count(one.cluster, one.statuses[status], one.statuses.total())
            )
        yield pooled_share(evidence, f"outcomes.{status}", counts)
    strict = [
        Count(one.cluster, one.n_strict, one.statuses.total()) for one in episodes
    ]
    yield pooled_share(evidence, "outcomes.strict", strict)


def _endings(evidence: Evidence, episodes: Sequence[_Episode]) -> Iterator[Measurement]:
    endings = [one.ending for one in episodes]
    yield Measurement(
        name="episodes.failed", value=float(endings.count("failed")), n=len(episodes)
    )
    # Of all episodes, failed ones included, so that the shares of endings sum to one.
    for ending in ENDINGS:
        counts = [Count(one.cluster, one.ending == ending, 1) for one in episodes]
        yield pooled_share(evidence, f"endings.{ending}", counts)
