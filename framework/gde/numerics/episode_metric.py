"""Metrics whose numbers follow from facts of single episodes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite, nan
from numbers import Real
from typing import NoReturn

import numpy as np

from gde.data.arrays import Doubles
from gde.data.episode_table import EpisodeTable, Head, Tabulated
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


def undeclared() -> NoReturn:
    """The model of a metric whose offer says that it asks for none.

    Raises:
        TypeError: always.
    """
    raise TypeError('to ask for the process of a world, its offer says facts="world"')


@dataclass(frozen=True, kw_only=True, eq=False)
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
        table = tabulate(self, evidence)
        # Of episodes that all failed, nobody knows what they would have had.
        lost = len(table) and (table["ending.failed"] == 1).all()
        return [
            number.measured(table, evidence.seed)
            for number in self.numbers
            if lost or not (number.only and np.isnan(table[number.only]).all())
        ]

    def table(self, episodes: EpisodeTable, rows: Doubles) -> EpisodeTable:
        """N episodes with their rows (N, columns)."""
        return replace(episodes, facts=dict(zip(self.columns, rows.T, strict=True)))

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
            if fact is not None and not (isinstance(fact, Real) and isfinite(fact)):
                raise GdeError(
                    f"its fact {name!r} is {fact!r}: give a finite number or None"
                )
            row.append(nan if fact is None else float(fact))
        return tuple(row)


Row = Callable[[], tuple[float, ...]]
"""Asks a metric for the row of an episode."""
Ask = Callable[[Trajectory, Row], tuple[float, ...]]
"""Gets the row of an episode, in a way that says whose error it raises."""


def tabulate(
    metric: EpisodeMetric, evidence: Evidence, ask: Ask | None = None
) -> EpisodeTable:
    """The table of a metric: as it is known, else from one pass over the episodes.

    Raises:
        GdeError: the facts have other names or types.
    """
    episodes = evidence.trajectories
    if isinstance(episodes, Tabulated) and metric in episodes.tables:
        return episodes.tables[metric]
    heads = []
    rows = []
    for one in episodes:
        heads.append(Head.of(one))
        row = partial(metric.row, one, evidence.mdp and partial(evidence.mdp, one))
        if one.ending == "failed":
            rows.append((nan,) * len(metric.columns))
        else:
            rows.append(ask(one, row) if ask else row())
    values = np.array(rows, dtype=np.float64).reshape(len(rows), len(metric.columns))
    return metric.table(EpisodeTable.of(heads), values)
