"""What a metric says of single turns of a run."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from gde.errors import GdeError
from gde.parts.metric import RemarksTurns
from gde.runs.reopening import reopen
from gde.stages.context import Resources
from gde.stages.evidence import gather, parts_of


def remarks(path: Path, name: str) -> Mapping[tuple[str, int], str]:
    """A line by episode key and turn index; nothing is written.

    Args:
        path: the folder of the run.
        name: of a metric, which has its settings in the run or else the default ones.

    Raises:
        GdeError: there is no such metric, or it says nothing of single turns.
    """
    folder, catalogue, own, how = reopen(path, None, None, None, writes=False)
    ready = parts_of(folder, catalogue, own, how)
    with closing(folder.journal()) as journal, closing(Resources(ready)) as resources:
        metric = resources.metric_of(resources.find_metric(name)).metric
        if not isinstance(metric, RemarksTurns):
            raise GdeError(
                f"metric {name} says nothing of single turns: `gde view {path}` shows them"
            )
        return metric.remarks(gather(folder, journal, lambda: ready))
