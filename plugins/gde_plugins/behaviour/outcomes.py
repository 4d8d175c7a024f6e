"""What became of every answer and every episode, so that nothing is dropped unseen."""

from collections.abc import Iterator, Sequence
from typing import get_args

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.trajectory import STATUSES, Ending
from gde.numerics.episodes import NOTHING_FINISHED, clusters, finished, turns_by_cluster, unmeasured
from gde.numerics.stats import cluster_share
from gde.seeding import generator

ENDINGS: tuple[Ending, ...] = get_args(Ending)


def outcomes(evidence: Evidence) -> Sequence[Measurement]:
    """The share of each decision status in the turns of finished episodes, of each ending in all episodes.

    Both sum to one. "episodes.failed" counts the episodes that no behaviour number rests on.
    """
    return [*_statuses(evidence), *_endings(evidence)]


def _statuses(evidence: Evidence) -> Iterator[Measurement]:
    turns, of_turns = turns_by_cluster(finished(evidence))
    for status in STATUSES:
        name = f"outcomes.{status}"
        if turns:
            yield _share(evidence, name, [turn.decision.status == status for turn in turns], of_turns)
        else:
            yield unmeasured(name, "share", NOTHING_FINISHED)


def _endings(evidence: Evidence) -> Iterator[Measurement]:
    trajectories = evidence.trajectories
    n_failed = len(trajectories) - len(finished(evidence))
    yield Measurement(name="episodes.failed", value=float(n_failed), unit="count", n=len(trajectories))
    for ending in ENDINGS:
        name = f"endings.{ending}"
        if trajectories:
            yield _share(evidence, name, [one.ending == ending for one in trajectories], clusters(trajectories))
        else:
            yield unmeasured(name, "share", NOTHING_FINISHED)


def _share(evidence: Evidence, name: str, hits: Sequence[bool], of_hits: Sequence[str]) -> Measurement:
    rng = generator(evidence.seed, "metric", name)
    return cluster_share(hits, of_hits, rng).measurement(name, "share")
