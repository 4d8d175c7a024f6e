"""The facts of a run's episodes, for the metrics that declare some."""

from collections.abc import Mapping
from dataclasses import replace

from gde.data.episode_table import EpisodeTable
from gde.data.evidence import Evidence
from gde.data.result import Failure
from gde.data.trajectory import Trajectory
from gde.numerics.episode_metric import EpisodeMetric, Row, tabulate
from gde.stages.deadlines import interrupting
from gde.stages.failing import failure_of, pass_on


def facts_of(
    metrics: Mapping[str, EpisodeMetric], evidence: Evidence, seconds: float | None
) -> tuple[dict[str, EpisodeTable], tuple[Failure, ...]]:
    """Ask for the facts of every episode; collect failures, one a metric.

    An episode whose facts fail has none. A metric of which all fail has no table.

    Args:
        metrics: by label.
        evidence: of the whole run.
        seconds: the time that the facts of one episode may take; None for no limit.
    """
    first: dict[str, Failure] = {}
    n_asked = dict.fromkeys(metrics, 0)
    n_failed = dict.fromkeys(metrics, 0)

    def ask(name: str, trajectory: Trajectory, work: Row) -> tuple[float, ...] | None:
        n_asked[name] += 1
        try:
            with interrupting(seconds, f"more than run.part_seconds={seconds}"):
                return work()
        except BaseException as error:
            pass_on(error)
            n_failed[name] += 1
            if name not in first:
                failure = failure_of("metric", name, error)
                place = f"episode {trajectory.key}: {failure.reason}"
                first[name] = replace(failure, reason=place)
            return None

    tables = tabulate(metrics, evidence, ask)
    failures = []
    for name, failure in first.items():
        counted = f"fails in {n_failed[name]} of {n_asked[name]} episodes, first in"
        failures.append(replace(failure, reason=f"{counted} {failure.reason}"))
        if n_failed[name] == n_asked[name]:
            del tables[name]
    return tables, tuple(failures)
