"""The turns of a run as a table."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gde.data.evidence import Evidence
from gde.data.frame import Table, beside
from gde.data.trajectory import Trajectory
from gde.numerics.episodes import is_optimal
from gde.stages.evidence import load_evidence

if TYPE_CHECKING:
    import pandas

COLUMNS = (
    "episode",
    "world",
    "index",
    "action",
    "status",
    "optimal",
    "reward",
    "value",
    "success",
    "tokens",
)


def turns_table(run: Path | str | Evidence) -> Table:
    """One row a turn of a run, read episode by episode.

    Columns: `episode`, `world`, `index`, `action` (missing where the decision could not
    be used), `status`, `optimal` (whether the action was an optimal one), `reward`,
    `value` (optimal expected return before the decision), `success`, `tokens` (of the
    completion that decided), then one for each label of worlds and sweep; a label that
    is called like one of the others is `label.NAME`. What a turn does not have is
    None.

    Args:
        run: the folder of a run, or its evidence.

    Raises:
        GdeError: there is no such run.
    """
    evidence = run if isinstance(run, Evidence) else load_evidence(run)
    return Table.of(_rows(evidence.trajectories), COLUMNS)


def turns_frame(run: Path | str | Evidence) -> "pandas.DataFrame":
    """`gde.open(run).turns` as a frame.

    Raises:
        MissingExtra: pandas is not installed.
        GdeError: there is no such run.
    """
    return turns_table(run).to_pandas("turns_frame")


def _rows(trajectories: Iterable[Trajectory]) -> Iterator[Mapping[str, Any]]:
    for trajectory in trajectories:
        same = {"episode": str(trajectory.key), "world": trajectory.world.id}
        labels = beside(trajectory.labels, COLUMNS, "label")
        for turn in trajectory.turns:
            completion = turn.decision.completion
            yield {
                **same,
                "index": turn.index,
                "action": turn.decision.action,
                "status": turn.decision.status,
                "optimal": None if turn.optimal is None else is_optimal(turn),
                "reward": turn.reward,
                "value": turn.value,
                "success": turn.success,
                "tokens": completion.n_completion if completion else None,
                **labels,
            }
