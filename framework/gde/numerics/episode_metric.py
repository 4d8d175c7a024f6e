"""Metrics whose numbers follow from facts of single episodes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import nan
from numbers import Real

import numpy as np

from gde.data.episode_table import EpisodeTable
from gde.data.evidence import Evidence
from gde.data.mdp import TabularMDP
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.numerics.numbers import Number

Facts = Mapping[str, float | None]
"""Column to fact; None where there is none."""
Model = Callable[[], TabularMDP] | None
"""Makes the decision process of an episode's world, as it was at the start; None where
no environment is known. It raises GdeError where the environment has none.
"""


@dataclass(frozen=True, kw_only=True)
class EpisodeMetric:
    """Facts of each episode, and numbers over them.

    It is a `gde.parts.metric.Metric`. A run asks for the facts of an episode once, and
    draws the numbers of all conditions and worlds from them.
    """

    columns: tuple[str, ...]
    """Names of the facts."""
    facts: Callable[[Trajectory, Model], Facts]
    """The facts of an episode that has not failed."""
    numbers: tuple[Number, ...]
    """Over these columns, and those of `EpisodeTable`."""

    def __call__(self, evidence: Evidence) -> Sequence[Measurement]:
        """The numbers of the evidence.

        Raises:
            GdeError: the facts have other names or types.
        """
        tables = tabulate({"": self}, evidence, _asked)
        return self.measured(tables[""], evidence.seed)

    def measured(self, table: EpisodeTable, seed: int) -> Sequence[Measurement]:
        """The numbers of all episodes of a table; `seed` is that of the resampling."""
        return [number.measured(table, seed) for number in self.numbers]

    def row(self, trajectory: Trajectory, model: Model) -> tuple[float, ...]:
        """The facts of an episode in the order of `columns`, nan for None.

        Raises:
            GdeError: they have other names or types.
        """
        found = self.facts(trajectory, model)
        if found.keys() != set(self.columns):
            names, wanted = ", ".join(found), ", ".join(self.columns)
            raise GdeError(f"its facts are {names}: it declares {wanted}")
        row = []
        for name in self.columns:
            fact = found[name]
            if not isinstance(fact, Real | None):
                raise GdeError(f"its fact {name!r} is {fact!r}: give a number or None")
            row.append(nan if fact is None else float(fact))
        return tuple(row)


Row = Callable[[], tuple[float, ...]]
"""Asks a metric for the row of an episode."""
Ask = Callable[[str, Trajectory, Row], tuple[float, ...] | None]
"""Gets the row of an episode from the metric of a label; None leaves it without
facts.
"""


def tabulate(
    metrics: Mapping[str, EpisodeMetric], evidence: Evidence, ask: Ask
) -> dict[str, EpisodeTable]:
    """The table of each metric, by label, from one pass over the episodes."""
    rows: dict[str, list[tuple[float, ...]]] = {name: [] for name in metrics}

    def followed() -> Iterator[Trajectory]:
        for one in evidence.trajectories:
            model = evidence.mdp and partial(evidence.mdp, one)
            for name, metric in metrics.items():
                row = None
                if one.ending != "failed":
                    row = ask(name, one, partial(metric.row, one, model))
                rows[name].append(row or (nan,) * len(metric.columns))
            yield one

    episodes = EpisodeTable.of(followed())
    tables = {}
    for name, metric in metrics.items():
        shape = (len(episodes), len(metric.columns))
        values = np.array(rows[name], dtype=np.float64).reshape(shape)
        facts = dict(zip(metric.columns, values.T, strict=True))
        tables[name] = replace(episodes, facts=facts)
    return tables


def _asked(_: str, __: Trajectory, row: Row) -> tuple[float, ...]:
    return row()
