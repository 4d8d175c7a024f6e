"""The facts of a run's episodes, for the metrics that declare some."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import nan

import numpy as np

from gde.data.arrays import Bools, Doubles
from gde.data.episode_table import EpisodeTable
from gde.data.evidence import Evidence
from gde.data.result import Failure
from gde.data.trajectory import Trajectory
from gde.numerics.episode_metric import EpisodeMetric, Model
from gde.parts.metric import Declared
from gde.stages.deadlines import interrupting
from gde.stages.evidence import Recorded
from gde.stages.failing import failure_of, pass_on
from gde.store.damage import decoding
from gde.store.facts import Row, keep_facts, read_facts, to_row
from gde.store.journal import Journal

KEPT_AT_ONCE = 1000
"""Episodes whose facts are written in one transaction."""


def know_facts(
    evidence: Evidence,
    metrics: Sequence[tuple[str, Callable[[], Declared]]],
    journal: Journal,
    seconds: float | None = None,
    anew: Collection[str] = (),
    keep: bool = True,
) -> tuple[Failure, ...]:
    """Add the facts of every episode to the evidence; collect failures, one a metric.

    Those that are kept are read, and no episode is where all are. Others are asked for,
    and kept. An episode whose facts fail has none.

    Args:
        evidence: of the whole run.
        metrics: label and maker of each.
        journal: of the run.
        seconds: the time that the facts of one episode may take; None for no limit.
        anew: labels of the metrics whose kept facts are not read.
        keep: whether the journal may be written.
    """
    recorded = evidence.trajectories
    assert isinstance(recorded, Recorded)
    heads = recorded.heads
    with decoding("episodes"):
        episodes = EpisodeTable.of(heads)
    asked = []
    for name, make in metrics:
        try:
            declared = make()
        except BaseException as error:
            # Scoring makes it again, and tells why it cannot be made.
            pass_on(error)
            continue
        if isinstance(declared.metric, EpisodeMetric):
            asked.append(_Asked(name, declared, episodes["ending.failed"] == 1))

    places = {head.episode: i for i, head in enumerate(heads)}
    known = [each for each in asked if each.made_by and each.name not in anew]
    for episode, kept in read_facts(journal) if known else ():
        for each in known:
            if each.made_by in kept and episode in places:
                each.take(places[episode], kept[each.made_by])
    if not all(each.told.all() for each in asked):
        for new in _ask(asked, evidence, seconds):
            if keep:
                keep_facts(journal, new)

    recorded.tables = {each.metric: each.table(episodes) for each in asked}
    return tuple(each.failed for each in asked if each.failure)


def _ask(
    asked: Sequence["_Asked"],
    evidence: Evidence,
    seconds: float | None,
) -> Iterator[dict[str, dict[str, Row]]]:
    """Ask for what is not told; yield what is new, by episode and maker."""
    new: dict[str, dict[str, Row]] = {}
    for place, one in enumerate(evidence.trajectories):
        model = evidence.mdp and partial(evidence.mdp, one)
        told = {}
        for each in asked:
            if not each.told[place] and each.ask(place, one, model, seconds):
                told[each.made_by] = each.row(place)
        # An object of Python cannot be told from another of its name.
        told.pop("", None)
        if told:
            new[str(one.key)] = told
        if len(new) == KEPT_AT_ONCE:
            yield new
            new = {}
    if new:
        yield new


class _Asked:
    """What one metric has told of N episodes."""

    def __init__(self, name: str, declared: Declared, failed: Bools) -> None:
        assert isinstance(declared.metric, EpisodeMetric)
        self.name = name
        self.metric = declared.metric
        self.made_by = declared.made_by
        self.told = failed.copy()
        """(N,) whether nothing is left to ask; nothing is asked of failed episodes."""
        self.failure: Failure | None = None
        """The first."""
        self._rows: Doubles = np.full((len(failed), len(self.metric.columns)), nan)
        self._faults = np.zeros(len(failed), dtype=bool)
        self._n_asked = 0

    def take(self, place: int, row: Row) -> None:
        """Take a kept row, unless it is none of this metric."""
        if len(row) == len(self.metric.columns):
            # NumPy reads None as nan.
            self._rows[place] = row
            self.told[place] = True

    def ask(
        self, place: int, one: Trajectory, model: Model, seconds: float | None
    ) -> bool:
        """Ask for the row of an episode; whether there is one."""
        self._n_asked += 1
        try:
            with interrupting(seconds, f"more than run.part_seconds={seconds}"):
                self._rows[place] = self.metric.row(one, model)
        except BaseException as error:
            pass_on(error)
            self._faults[place] = True
            if self.failure is None:
                failure = failure_of("metric", self.name, error)
                where = f"episode {one.key}: {failure.reason}"
                self.failure = replace(failure, reason=where)
            return False
        return True

    def row(self, place: int) -> Row:
        """The row of an episode."""
        return to_row(self._rows[place].tolist())

    def table(self, episodes: EpisodeTable) -> EpisodeTable:
        """The episodes with these facts."""
        return self.metric.table(replace(episodes, faults=self._faults), self._rows)

    @property
    def failed(self) -> Failure:
        """The first failure, with the number of them."""
        assert self.failure is not None
        counted = f"{self._faults.sum()} of {self._n_asked} episodes"
        reason = f"fails in {counted}, first in {self.failure.reason}"
        return replace(self.failure, reason=reason)
