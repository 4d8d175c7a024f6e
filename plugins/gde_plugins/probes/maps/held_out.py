"""The held-out turns of a run, with decoded and true maps."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from gde.data.cell_map import CellMap
from gde.data.evidence import Evidence
from gde.data.json import Labels
from gde.data.probe import Fit, ProbeReport
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory, Turn
from gde.numerics.episodes import unmeasured
from gde.numerics.stats import cluster_share
from gde.seeding import generator
from gde_plugins.probes.arrays import Bools, Codes, Floats, Worlds
from gde_plugins.probes.maps.scores import never_trained

SWEPT = ("size", "density")
"""Labels of breakdowns, used where they differ between turns."""


@dataclass(frozen=True, kw_only=True, eq=False)
class DecodedTurns:
    """N turns, decoded by one fit of a probe."""

    fit: Fit
    where: Labels
    """Labels of the fit; those of a probe's own numbers have "control", these have
    "fit".
    """
    trajectories: tuple[Trajectory, ...]
    """Trajectory of each turn."""
    turns: tuple[Turn, ...]
    decoded: Floats
    """(N, size, size, C) class probabilities; of random weights, those of the first
    initialisation.
    """
    further: tuple[Floats, ...] = ()
    """The same of the further initialisations."""
    cells: Codes
    """(N, size, size) true classes."""
    classes: tuple[str, ...]
    unknown: frozenset[str]
    """Classes absent from the training turns: their probability is 0 everywhere."""

    @property
    def is_control(self) -> bool:
        return self.fit.control != "none"

    @property
    def keys(self) -> list[tuple[str, int]]:
        """(N,) episode and index of each turn."""
        pairs = zip(self.trajectories, self.turns, strict=True)
        return [(str(trajectory.key), turn.index) for trajectory, turn in pairs]

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the fit as texts, which name a stream of random numbers."""
        return tuple(map(str, self.where.values()))

    @property
    def groups(self) -> Worlds:
        """(N,) worlds."""
        return np.array([one.world.cluster for one in self.trajectories])

    def untrained(self, *names: str) -> str:
        """Return why the places of untrained classes are unknown; empty if they are
        not.
        """
        for name in names:
            if name in self.unknown:
                return never_trained(name)
        return ""

    @property
    def initialisations(self) -> "Iterator[DecodedTurns]":
        """The turns as each initialisation of random weights decodes them; otherwise
        these alone.
        """
        for decoded in (self.decoded, *self.further):
            yield replace(self, decoded=decoded, further=())

    def take(self, rows: Bools) -> "DecodedTurns":
        """Return the turns where `rows` (N,) is true."""
        chosen = np.flatnonzero(rows)
        return replace(
            self,
            trajectories=tuple(self.trajectories[row] for row in chosen),
            turns=tuple(self.turns[row] for row in chosen),
            decoded=self.decoded[rows],
            further=tuple(decoded[rows] for decoded in self.further),
            cells=self.cells[rows],
        )

    def parts(self) -> "Iterator[DecodedTurns]":
        """Return the turns of each size and each density, if several were played."""
        for label in SWEPT:
            values = [one.labels.get(label) for one in self.trajectories]
            known = {value for value in values if value is not None}
            for value in sorted(known):
                rows = np.array([each == value for each in values])
                # Where every turn has the value, the part would be the whole again.
                if not rows.all():
                    part = self.take(rows)
                    yield replace(part, where={**self.where, label: value})

    def under(self, measurements: Sequence[Measurement]) -> Iterator[Measurement]:
        """Return the measurements with the labels of these turns."""
        for one in measurements:
            labels = {**self.where, **one.where}
            yield replace(one, where=labels)


def share_of_turns(
    name: str,
    hits: ArrayLike,
    worlds: ArrayLike,
    seed: int,
    labels: Sequence[str] = (),
    trials: Sequence[int] | None = None,
    reason: str = "",
) -> Measurement:
    """Return a share with its interval over worlds; n counts turns.

    Args:
        name: of the measurement, and of its stream of random numbers with `labels`.
        hits: (N,) of each turn.
        worlds: (N,).
        seed: of the run.
        labels: of the fit.
        trials: (N,); by default one each.
        reason: why there may be no turn.
    """
    if not np.size(hits):
        return unmeasured(name, reason)
    rng = generator(seed, "metric", name, *labels)
    return cluster_share(hits, worlds, rng, trials=trials).measurement(name)


def decoded_turns(evidence: Evidence) -> Iterator[DecodedTurns]:
    """Return the turns of every map fit, without failed episodes.

    The fits are in the order of the reports.
    """
    trajectories = {}
    for trajectory in evidence.trajectories:
        if trajectory.ending != "failed":
            trajectories[str(trajectory.key)] = trajectory

    for report in evidence.probe_reports:
        # Probes of other things report fewer dimensions, or other classes.
        is_map = report.decoded.ndim == 4
        if is_map and {"agent", "goal", "wall"} <= {*report.classes}:
            yield _turns_of(report, trajectories)


def _turns_of(
    report: ProbeReport, trajectories: Mapping[str, Trajectory]
) -> DecodedTurns:
    """Return the turns of a report whose episodes are among the given ones."""
    fit = report.fit
    size = report.decoded.shape[1]

    # Rows of failed episodes are left out of the decoded maps too, so that all arrays
    # stay aligned.
    rows = []
    played = []
    turns = []
    maps = []
    for row, (episode, index) in enumerate(report.rows):
        if episode in trajectories:
            trajectory = trajectories[episode]
            turn = trajectory.turns[index]
            rows.append(row)
            played.append(trajectory)
            turns.append(turn)
            maps.append(true_map(trajectory, turn, size))

    # A probe gives a class that it never saw in training no probability anywhere.
    is_decoded = report.decoded.any(axis=(0, 1, 2))
    unknown = np.array(report.classes)[~is_decoded]

    where: Labels = {
        "variant": fit.variant,
        "layer": fit.layer,
        "position": fit.position,
        "fit": fit.control,
    }
    # Shaped even where there are no turns.
    cells = np.array(maps, dtype=np.int64).reshape(-1, size, size)
    return DecodedTurns(
        fit=fit,
        where=where,
        trajectories=tuple(played),
        turns=tuple(turns),
        decoded=report.decoded[rows],
        further=tuple(decoded[rows] for decoded in report.further),
        cells=cells,
        classes=report.classes,
        unknown=frozenset(unknown.tolist()),
    )


def recorded_map(trajectory: Trajectory, turn: Turn) -> CellMap | None:
    """The map before a decision; None where none is recorded."""
    if turn.state is None:
        return None
    try:
        return CellMap.from_record(trajectory.world, turn.state)
    except ValueError:
        return None


def true_map(trajectory: Trajectory, turn: Turn, size: int) -> Codes:
    """(size, size) true classes of a turn, which has a state because a map probe
    decoded it.
    """
    assert turn.state is not None
    return CellMap.from_record(trajectory.world, turn.state).padded(size)
