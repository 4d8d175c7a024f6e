"""A finished run, opened to be read."""

from contextlib import closing
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gde.comparisons.comparison import Comparison, compare_runs, named
from gde.data.arrays import Floats
from gde.data.evidence import Evidence
from gde.data.frame import Table, beside
from gde.data.result import Result
from gde.errors import ConfigError, GdeError
from gde.files import local
from gde.runs.episodes import episodes_table
from gde.runs.exporting import Format, export, messages
from gde.runs.frames import turns_table
from gde.stages.evidence import load_evidence
from gde.store.activations import ActivationStore
from gde.store.folder import RunFolder
from gde.validating import checked

MODEL = "model"
"""The source of the activations of the agent's own model."""
VERDICT = ("name", "value", "unit", "control", "difference", "low", "high", "p")
VERDICTS = (*VERDICT, "outcome", "worlds", "reason")


class Activations(NamedTuple):
    """Activations of a run at one layer and position."""

    values: Floats
    """(S, width) one token a row: all marked tokens of a turn, turns in order."""
    labels: Table
    """S rows: the turn of each token, as in `Run.turns`, and its number (`token`) among
    the marked ones of its turn.
    """


class Run:
    """A finished run.

    Its parts are read when they are first asked for.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._folder = RunFolder.open(path)
        self.result: Result = self._folder.read_result()

    def __repr__(self) -> str:
        return repr(self.result)

    @cached_property
    def evidence(self) -> Evidence:
        """Everything that was recorded."""
        return load_evidence(self.path)

    @cached_property
    def episodes(self) -> Table:
        """One row an episode, see `episodes_table`."""
        return episodes_table(self.path)

    @cached_property
    def turns(self) -> Table:
        """One row a turn, see `turns_table`."""
        return turns_table(self.evidence)

    @cached_property
    def messages(self) -> Table:
        """One row a turn: what the agent was shown or sent, and what it answered."""
        turns = chain.from_iterable(map(messages, self.evidence.trajectories))
        return Table.of(turns, ("episode", "turn"))

    @cached_property
    def verdicts(self) -> Table:
        """One row a headline of a probe with its test against the strongest control."""
        rows = []
        for one in self.result.measurements:
            verdict = one.verdict
            if verdict is not None:
                low, high = verdict.interval or (None, None)
                tested = {"low": low, "high": high, **vars(verdict)}
                row = {"name": one.name, "value": one.value, "unit": one.unit, **tested}
                row = {name: row[name] for name in VERDICTS}
                rows.append({**row, **beside(one.where, VERDICTS, "where")})
        return Table.of(rows, VERDICTS)

    @cached_property
    def stored(self) -> Table:
        """One row a layer, position and source of which activations are stored."""
        query = """SELECT DISTINCT layer, position, source FROM activations
            ORDER BY source, layer, position"""
        with closing(self._folder.journal()) as journal:
            rows = [{**row} for row in journal.query(query)]
        return Table.of(rows, ("layer", "position", "source"))

    @checked
    def activations(
        self, layer: int, position: str, source: str = MODEL
    ) -> Activations:
        """The stored activations of one place, with the turns that they belong to.

        Args:
            layer: index of the layer.
            position: of the tokens, e.g. "pre".
            source: "model", or an initialisation with random weights.

        Raises:
            GdeError: none are stored of this place; the message lists those that are.
        """
        with closing(self._folder.journal()) as journal:
            store = ActivationStore(self._folder.activations, journal)
            table = store.table(source, layer, position)
        if table is None:
            stored = zip(*self.stored.values(), strict=True)
            known = "; ".join(f"{a}, {b!r}, {c!r}" for a, b, c in stored) or "none"
            raise GdeError(
                f"activations({layer}, {position!r}, {source!r}): not stored. Stored are {known}"
            )
        keys = zip(self.turns["episode"], self.turns["index"], strict=True)
        places = {key: place for place, key in enumerate(keys)}
        of_turns = np.array([places[row] for row in table.rows], dtype=np.int64)
        labels = self.turns.rows(np.repeat(of_turns, table.lengths).tolist())
        labels["token"] = [i for length in table.lengths for i in range(length)]
        return Activations(table.values[:], labels)

    def compare(self, *others: "Run | Path | str") -> Comparison:
        """Compare this run with others, see `gde.compare`."""
        return compare(self, *others)

    @checked
    def export(self, out: Path | str, form: Format = "jsonl") -> int:
        """Write the run to a new file, see `gde export`; gives the number of lines.

        Raises:
            ConfigError: the file exists, is an address, or cannot be written.
        """
        try:
            with local(Path(out)).open("x", encoding="utf-8", newline="") as file:
                return export(self.path, form, file)
        except OSError as error:
            raise ConfigError(f"{out}: {error.strerror or error}") from error


@checked
def open(path: Path | str) -> Run:  # its name is `gde.open`
    """Open a finished run.

    Raises:
        GdeError: there is none, or it is not finished.
    """
    return Run(Path(path))


@checked
def path_of(run: Run | Path | str) -> Path:
    """The folder of a run that is open, or is named."""
    return run.path if isinstance(run, Run) else Path(run)


def compare(*runs: Run | Path | str) -> Comparison:
    """Compare every two of several runs in the worlds that they share.

    Args:
        *runs: their folders, or what `open` gave.

    Raises:
        GdeError: fewer than two, one of them twice, or one that is no finished run.
    """
    if len(runs) < 2:
        raise GdeError(f"compare: wanted two runs; got {len(runs)}")
    return compare_runs(named([*map(path_of, runs)]))
