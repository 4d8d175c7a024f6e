"""Any number of runs side by side: every pair of them compared, and their ranking."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gde.comparisons.comparing import compare_all
from gde.comparisons.differences import Compared
from gde.comparisons.ranking import Ranked, rank
from gde.comparisons.settings import Differing, differing
from gde.data.result import Result, RunStatus
from gde.errors import GdeError
from gde.request.catalogue import Catalogue
from gde.runs.conclusion import worst_status
from gde.store.folder import RunFolder, result_json

SHOWN = 8
"""Numbers of a pair in its short form."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Several runs, which contend with one another."""

    runs: Mapping[str, Path]
    """Run folders by contender, in the order of the request."""
    results: Mapping[str, Result]
    differing: Differing
    """The settings in which contenders differ, e.g. "agent.p"."""
    compared: tuple[Compared, ...] = ()
    """Every pair of them; empty if they could not be compared."""
    reason: str = ""
    """Why they could not be compared; empty if they were."""

    def __repr__(self) -> str:
        """The contenders and, of each pair, the first numbers that differ."""
        lines = [f"{self.status}: {', '.join(self.runs)} {self.reason}".rstrip()]
        for one in self.compared:
            a, b = self.pair(one)
            lines.append(f"{a} and {b}, difference of the second from the first:")
            whole = [row for row in one.rows if not row.where and row.n_different]
            for row in whole[:SHOWN]:
                p = f"p {row.p:.3g}" if row.p is not None else row.reason
                told = f"{row.a:.4g} and {row.b:.4g}, {row.difference:+.4g}, {p}"
                lines.append(f"  {row.title}: {told}")
            left = len(one.rows) - len(whole[:SHOWN])
            lines.append(f"  {left} more numbers: see compared")
        return "\n".join(lines)

    @property
    def status(self) -> RunStatus:
        """The worst status of the runs; partial if they could not be compared."""
        worst = worst_status(self.results.values())
        return "partial" if worst == "ok" and self.reason else worst

    @property
    def ranking(self) -> tuple[Ranked, ...]:
        """The contenders by their first headline; empty where none can be ranked."""
        pairs = {self.pair(one): one for one in self.compared}
        return rank(self.results, pairs)

    def pair(self, one: Compared) -> tuple[str, str]:
        """The contenders A and B of a pair."""
        names = {str(path): name for name, path in self.runs.items()}
        a, b = (names[side.run] for side in one.runs)
        return a, b


def named(runs: Sequence[Path]) -> Mapping[str, Path]:
    """The runs by the names of their folders, or by their paths where these repeat.

    Raises:
        GdeError: one is named twice.
    """
    if len({run.resolve() for run in runs}) < len(runs):
        raise GdeError("compare: a run is named twice; choose different runs")
    names = [run.resolve().name for run in runs]
    return {
        name if names.count(name) == 1 else str(run): run
        for name, run in zip(names, runs, strict=True)
    }


def compare_runs(
    runs: Mapping[str, Path], catalogue: Catalogue | None = None, episodes: str = ""
) -> Comparison:
    """Compare every pair of finished runs; nothing is written.

    Args:
        runs: run folders by the names of the contenders.
        catalogue: the installed parts.
        episodes: a number with a better direction: of each pair, the worlds are listed
            in which one of the two is better in it.

    Raises:
        RunFolderError: one of them is no run, or not finished.
    """
    folders = {name: RunFolder.open(path) for name, path in runs.items()}
    results = {name: folder.read_result() for name, folder in folders.items()}
    try:
        plans = {name: folder.plan() for name, folder in folders.items()}
        compared = compare_all(list(runs.values()), catalogue, episodes)
    except GdeError as error:
        # Runs without a common measurement are still results.
        nothing: Differing = {name: {} for name in runs}
        return Comparison(
            runs=runs, results=results, differing=nothing, reason=str(error)
        )
    return Comparison(
        runs=runs, results=results, differing=differing(plans), compared=compared
    )


def comparison_json(found: Comparison) -> dict[str, Any]:
    """The object of `gde compare --json` for several runs."""
    return {
        "status": found.status,
        "ranking": [asdict(one) for one in found.ranking],
        "variants": {
            name: result_json(result) for name, result in found.results.items()
        },
        "differing": found.differing,
        "compared": [asdict(one) for one in found.compared],
        "reason": found.reason,
    }
