"""What became of every answer and every episode, so that nothing is dropped unseen."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple, get_args

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.trajectory import STATUSES, Ending, Status, Trajectory
from gde.numerics.episodes import Count, pooled_share

ENDINGS: tuple[Ending, ...] = get_args(Ending)


class _Episode(NamedTuple):
    """What became of one."""

    cluster: str
    ending: Ending
    statuses: Counter[Status]
    """Of its turns; none of a failed episode, which says nothing of the agent."""

    @classmethod
    def of(cls, trajectory: Trajectory) -> "_Episode":
        turns = trajectory.turns if trajectory.ending != "failed" else ()
        statuses = Counter(turn.decision.status for turn in turns)
        return cls(trajectory.world.cluster, trajectory.ending, statuses)


def outcomes(evidence: Evidence) -> Sequence[Measurement]:
    """The share of each decision status in the turns of finished episodes, of each ending in all episodes.

    Both sum to one. "episodes.failed" counts the episodes that no behaviour number rests on.
    """
    episodes = [_Episode.of(trajectory) for trajectory in evidence.trajectories]
    return [*_statuses(evidence, episodes), *_endings(evidence, episodes)]


def _statuses(evidence: Evidence, episodes: Sequence[_Episode]) -> Iterator[Measurement]:
    for status in STATUSES:
        counts = (Count(one.cluster, one.statuses[status], one.statuses.total()) for one in episodes)
        yield pooled_share(evidence, f"outcomes.{status}", counts)


def _endings(evidence: Evidence, episodes: Sequence[_Episode]) -> Iterator[Measurement]:
    n_failed = sum(one.ending == "failed" for one in episodes)
    yield Measurement(name="episodes.failed", value=float(n_failed), unit="count", n=len(episodes))
    for ending in ENDINGS:
        yield pooled_share(
            evidence, f"endings.{ending}", (Count(one.cluster, one.ending == ending, 1) for one in episodes)
        )
