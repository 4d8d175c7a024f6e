"""The true maps of an episode, as labels of a probe."""

import numpy as np

from gde.data.cell_map import CellMap, decoded_classes, kinds_of
from gde.data.probe import ProbeLabels
from gde.data.trajectory import Trajectory, Turn
from gde.errors import GdeError
from gde_plugins.probes.arrays import Codes


def map_labels(trajectory: Trajectory, size: int, probe: str) -> ProbeLabels:
    """(T, size, size) index into the classes of the true map in every turn.

    Raises:
        GdeError: a turn without a recorded map, or a map larger than the square.
    """
    maps = [_cells(trajectory, turn, size, probe) for turn in trajectory.turns]
    cells = np.array(maps, dtype=np.int64).reshape(-1, size, size)
    classes = decoded_classes(kinds_of(trajectory.world))
    return ProbeLabels(values=cells, classes=classes)


def _cells(trajectory: Trajectory, turn: Turn, size: int, probe: str) -> Codes:
    where = f"{probe}: turn {turn.index} of episode {trajectory.key}"
    if turn.state is None:
        raise GdeError(
            f"{where} has no recorded state; choose an environment that gives one, e.g. grid"
        )
    try:
        return CellMap.from_record(trajectory.world, turn.state).padded(size)
    except ValueError as error:
        raise GdeError(f"{where}: {error}; the probe's size is {size}") from error
