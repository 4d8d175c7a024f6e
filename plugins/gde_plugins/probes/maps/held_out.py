"""The held-out turns of a run with the maps that a probe decoded in them, beside the true ones."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gde.data.cell_map import CellMap
from gde.data.evidence import Evidence
from gde.data.json import Labels
from gde.data.probe import ProbeReport
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory, Turn
from gde_plugins.probes.maps.estimates import Bools
from gde_plugins.probes.maps.scores import never_trained

SWEPT = ("size", "density")
"""Labels that numbers are broken down by, where they differ."""


@dataclass(frozen=True, kw_only=True, eq=False)
class DecodedTurns:
    """N turns of one arm."""

    where: Labels
    """Which arm, in labels that are not those of a probe's own numbers: a control is a "fit"."""
    trajectories: tuple[Trajectory, ...]
    """Of each turn."""
    turns: tuple[Turn, ...]
    decoded: NDArray[np.float32]
    """(N, size, size, C) class probabilities."""
    cells: NDArray[np.int64]
    """(N, size, size) true classes."""
    classes: tuple[str, ...]
    unknown: frozenset[str]
    """Classes that the probe was never trained on: their probability is 0 in every cell of every turn of the arm."""

    @property
    def groups(self) -> NDArray[np.str_]:
        """(N,) worlds."""
        return np.array([one.world.cluster for one in self.trajectories])

    def untrained(self, *names: str) -> str:
        """Why nothing is known of where these classes are believed to be; empty where all were trained on."""
        absent = [name for name in names if name in self.unknown]
        return never_trained(absent[0]) if absent else ""

    def take(self, rows: Bools) -> "DecodedTurns":
        """The turns where `rows` (N,) is true."""
        chosen = np.flatnonzero(rows)
        return replace(
            self,
            trajectories=tuple(self.trajectories[row] for row in chosen),
            turns=tuple(self.turns[row] for row in chosen),
            decoded=self.decoded[rows],
            cells=self.cells[rows],
        )

    def parts(self) -> "Iterator[DecodedTurns]":
        """The turns of each value of what is swept, alone."""
        for label in SWEPT:
            values = [one.labels.get(label) for one in self.trajectories]
            for value in sorted({each for each in values if each is not None}):
                rows = np.array([each == value for each in values])
                if not rows.all():
                    yield replace(self.take(rows), where={**self.where, label: value})

    def under(self, measurements: Sequence[Measurement]) -> Iterator[Measurement]:
        """The measurements, saying what they are of."""
        for one in measurements:
            yield replace(one, where={**self.where, **one.where})


def decoded_turns(evidence: Evidence) -> Iterator[DecodedTurns]:
    """Of every arm that decoded maps, in the order of the reports; failed episodes are left out."""
    trajectories = {str(one.key): one for one in evidence.trajectories if one.ending != "failed"}
    for report in evidence.probe_reports:
        if report.decoded.ndim == 4 and {"agent", "goal", "wall"} <= {*report.classes}:
            yield _turns(report, trajectories)


def _turns(report: ProbeReport, trajectories: Mapping[str, Trajectory]) -> DecodedTurns:
    kept = [i for i, (episode, _) in enumerate(report.rows) if episode in trajectories]
    played = [trajectories[report.rows[i][0]] for i in kept]
    turns = [one.turns[report.rows[i][1]] for one, i in zip(played, kept, strict=True)]
    arm, size = report.arm, report.decoded.shape[1]
    maps = [true_map(one, turn, size) for one, turn in zip(played, turns, strict=True)]
    return DecodedTurns(
        where={"variant": arm.variant, "layer": arm.layer, "mark": arm.mark, "fit": arm.control},
        trajectories=tuple(played),
        turns=tuple(turns),
        decoded=report.decoded[kept],
        cells=np.array(maps, dtype=np.int64).reshape(-1, size, size),
        classes=report.classes,
        unknown=frozenset(name for code, name in enumerate(report.classes) if not report.decoded[..., code].any()),
    )


def true_map(trajectory: Trajectory, turn: Turn, size: int) -> NDArray[np.int64]:
    """(size, size) true classes; turns that a probe of maps has decoded have a state and a map."""
    assert turn.state is not None
    return CellMap.from_record(trajectory.world, turn.state).padded(size)
