"""Two runs over the worlds they share: paired differences with corrected p values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gde.catalogue import Catalogue
from gde.data.evidence import Evidence
from gde.errors import GdeError
from gde.evaluating import prepare
from gde.gathering import load_evidence
from gde.parts.metric import Metric
from gde.seeding import generator
from gde.stats import holm, paired_difference
from gde.store.folder import RunFolder

MINIMUM = 6
"""Fewest differing pairs with which a two-sided sign-flip test can reach p < 0.05 at all (2 / 2**6 = 0.031).
Rows with fewer can never be significant, so they are not tested and do not count in the correction (Tarone 1990)."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One measurement in both runs, over the worlds where both have it."""

    name: str
    n: int
    """Shared worlds."""
    n_different: int
    """Those where the runs differ."""
    a: float
    b: float
    difference: float
    """b - a, the mean over worlds."""
    interval: tuple[float, float] | None
    p: float | None
    """Holm-corrected over the tested rows; None with too few differing worlds."""

    @property
    def interval_text(self) -> str:
        return "" if self.interval is None else "[{:+.3f}, {:+.3f}]".format(*self.interval)

    @property
    def p_text(self) -> str:
        if self.p is not None:
            return f"{self.p:.4f}"
        return f"not measured: {self.n_different} of {self.n} pairs differ, needs {MINIMUM}"


def compare(run_a: Path, run_b: Path, catalogue: Catalogue | None = None) -> list[Row]:
    """Every measurement that the metrics of both runs give, world by world.

    Raises:
        GdeError: the runs share no world.
    """
    metrics = _shared_metrics(run_a, run_b, catalogue)
    a, b = _by_world(load_evidence(run_a)), _by_world(load_evidence(run_b))
    shared = sorted(a.keys() & b.keys())
    if not shared:
        raise GdeError(f"{run_a} and {run_b} share no world: give both the same environment, --seed and world settings")
    values_a, values_b = _values(metrics, a, shared), _values(metrics, b, shared)
    rows = [
        _row(name, values_a[name], values_b[name])
        for name in values_a
        if values_a[name].keys() & values_b.get(name, {}).keys()
    ]
    return _corrected(rows)


def _shared_metrics(run_a: Path, run_b: Path, catalogue: Catalogue | None) -> list[Metric]:
    a, b = (prepare(RunFolder.open(run).plan(), catalogue).metrics for run in (run_a, run_b))
    names = {chosen.name for chosen in b}
    return [chosen.make() for chosen in a if chosen.name in names]


def _by_world(evidence: Evidence) -> dict[str, Evidence]:
    worlds: dict[str, list[int]] = {}
    for i, trajectory in enumerate(evidence.trajectories):
        worlds.setdefault(trajectory.world.id, []).append(i)
    return {
        world: replace(
            evidence, trajectories=tuple(evidence.trajectories[i] for i in members), reward_traces=(), probe_reports=()
        )
        for world, members in worlds.items()
    }


def _values(
    metrics: Sequence[Metric], worlds: Mapping[str, Evidence], shared: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Measurement, with what it is restricted to, to world to value, where there is one."""
    values: dict[str, dict[str, float]] = {}
    for world in shared:
        for measurement in (each for metric in metrics for each in metric(worlds[world])):
            if measurement.value is not None:
                name = " ".join([measurement.name, *(f"{key}={value}" for key, value in measurement.where.items())])
                values.setdefault(name, {})[world] = measurement.value
    return values


def _row(name: str, a: Mapping[str, float], b: Mapping[str, float]) -> tuple[Row, float]:
    worlds = sorted(a.keys() & b.keys())
    first, second = np.array([a[world] for world in worlds]), np.array([b[world] for world in worlds])
    tested = paired_difference(second, first, np.array(worlds), generator(0, "compare", name))
    row = Row(
        name=name,
        n=len(worlds),
        n_different=int((first != second).sum()),
        a=float(first.mean()),
        b=float(second.mean()),
        difference=tested.estimate.value,
        interval=tested.estimate.interval,
        p=None,
    )
    return row, tested.p_value


def _corrected(rows: Sequence[tuple[Row, float]]) -> list[Row]:
    tested = [(row, p) for row, p in rows if row.n_different >= MINIMUM]
    corrected = dict(zip((row.name for row, _ in tested), holm([p for _, p in tested]), strict=True))
    return [replace(row, p=corrected.get(row.name)) for row, _ in rows]
