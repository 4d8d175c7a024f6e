"""A reproduced study: what was found, and the file that keeps it beside its runs."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from gde.data.figure import Figure
from gde.data.model_use import ModelUse, merged
from gde.data.result import Result, RunStatus
from gde.errors import RunFolderError
from gde.files import write_whole
from gde.parts.reproduction import Comparison
from gde.runs.conclusion import worst_status
from gde.store.folder import RunFolder, runs_beside

SCHEMA = 1
REASONS = 3
"""Reasons of failures that are listed."""


@dataclass(frozen=True, kw_only=True)
class _Stored:
    """What reproduction.json holds of a study beside its runs."""

    study: str
    scale: float
    runs: Mapping[str, Any]
    rows: tuple[Comparison, ...]
    figures: tuple[Figure, ...]
    figures_missing: str
    claim: tuple[str, ...]


STORED = TypeAdapter(_Stored)
STUDY_TABLES = "reproduction.json"


@dataclass(frozen=True, kw_only=True)
class Study:
    """What a reproduction found."""

    name: str
    scale: float
    """Share of the published size."""
    folder: Path
    rows: tuple[Comparison, ...]
    figures: tuple[Figure, ...]
    figures_missing: str
    """Why there are no figures; empty if there are."""
    results: Mapping[str, Result]
    """By the names of the plans."""
    claim: tuple[str, ...] = ()
    """What a profile found, without its subject, then a sentence for each section;
    empty for a publication.
    """

    @property
    def status(self) -> RunStatus:
        """The worst of its runs."""
        return worst_status(self.results.values())

    @property
    def failures(self) -> tuple[str, ...]:
        """A sentence for each run with failures: number, and the most frequent reasons."""
        return tuple(
            f"{name}: {_failed(result)}"
            for name, result in self.results.items()
            if result.failures
        )

    @property
    def notices(self) -> tuple[str, ...]:
        """The notices about the models for every reader, each once."""
        found = [result.provenance.get("notice") for result in self.results.values()]
        return tuple(dict.fromkeys(str(notice) for notice in found if notice))

    @property
    def models(self) -> tuple[ModelUse, ...]:
        """The language models that answered in all its runs together."""
        uses = [one for result in self.results.values() for one in result.models]
        return tuple(merged(uses))


def study_json(study: Study) -> dict[str, Any]:
    """The object that `gde reproduce --json` prints and reproduction.json holds."""
    runs = {}
    for name, result in study.results.items():
        runs[name] = {"run": result.run, "status": result.status}
    return {
        "schema": SCHEMA,
        "study": study.name,
        "scale": study.scale,
        "folder": str(study.folder),
        "status": study.status,
        "runs": runs,
        "models": [asdict(one) for one in study.models],
        "claim": list(study.claim),
        "rows": [asdict(row) for row in study.rows],
        "figures": [asdict(figure) for figure in study.figures],
        "figures_missing": study.figures_missing,
        "failures": list(study.failures),
        "notices": list(study.notices),
    }


def write_study(study: Study) -> None:
    """Write the tables of a study into its folder.

    Raises:
        RunFailed: the folder is not writable.
    """
    study.folder.mkdir(parents=True, exist_ok=True)
    tables = json.dumps(study_json(study), ensure_ascii=False, indent=1)
    write_whole(study.folder / STUDY_TABLES, f"{tables}\n")


def read_study(folder: Path) -> Study:
    """A finished study as it was written; nothing is computed.

    Raises:
        RunFolderError: the folder holds none, or one of its runs is damaged.
    """
    path = folder / STUDY_TABLES
    if path.is_symlink():
        raise RunFolderError(f"{path} is a link: name the folder that it leads to")
    try:
        stored = STORED.validate_json(path.read_bytes())
    except (OSError, ValueError) as error:
        first = str(error).splitlines()[0]
        raise RunFolderError(f"{path}: wanted a study's tables, got {first}") from error
    results = {}
    for name, run in runs_beside(path, [*stored.runs]).items():
        results[name] = RunFolder.open(run).read_result()
    return Study(
        name=stored.study,
        scale=stored.scale,
        folder=folder,
        rows=stored.rows,
        figures=stored.figures,
        figures_missing=stored.figures_missing,
        results=results,
        claim=stored.claim,
    )


def _failed(result: Result) -> str:
    subject = result.subject
    reasons = Counter(one.reason for one in result.failures).most_common(REASONS)
    listed = "; ".join(f"{n} x {reason}" for reason, n in reasons)
    if not subject.failed:
        return f"failures: {listed}"
    return (
        f"{subject.failed} of {subject.episodes} episodes failed and are in no number: {listed}. "
        "Give the same folder to run them again."
    )
