"""Fitted probes and their decoded values.

A fit is a row of run.sqlite and a pair of safetensors files.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python
from typing_extensions import TypedDict

from gde.data.arrays import Floats
from gde.data.probe import CodedTurns, Fit, ProbeReport
from gde.errors import UnknownName
from gde.store import manifest
from gde.store.arrays import read_arrays, write_arrays
from gde.store.damage import decoding
from gde.store.journal import Journal
from gde.store.rows import to_json
from gde.validating import field_types

DECODED = "decoded"
FURTHER, SCORES, CODED = "further.", "score.", "coded."
"""Names of arrays in the file of what a fit decoded; all but the first are followed by
a number or a name.
"""
READERS = {
    name: TypeAdapter(field_types(ProbeReport)[name])
    for name in (
        "fit",
        "measurements",
        "n_train",
        "n_test",
        "rows",
        "classes",
        "worlds",
        "model",
        "unread",
        "reason",
        "absent",
    )
}
"""What reads the fields of a report without arrays."""


class _Coded(TypedDict):
    rows: tuple[tuple[str, int], ...]
    worlds: tuple[str, ...]


CODED_TURNS = TypeAdapter(_Coded)


def write_readout(folder: Path, fit: Fit, arrays: Mapping[str, Floats]) -> None:
    """Store what a probe has learned."""
    write_arrays(folder / f"{fit.name}.safetensors", arrays)


@decoding("probes")
def read_readout(
    journal: Journal, folder: Path, probe: str, name: str
) -> tuple[str, dict[str, Floats]]:
    """The variant of a fitted fit, and what it has learned.

    Raises:
        UnknownName: there is no such fit.
    """
    rows = journal.query("SELECT * FROM probes WHERE probe = ?", (probe,))
    fitted = {}
    for row in rows:
        stored = json.loads(row["report"])
        if not stored["reason"]:
            fitted[row["fit"]] = stored
    if name not in fitted:
        raise UnknownName(f"fit of probe {probe}", name, fitted)
    file = folder / f"{name}.safetensors"
    manifest.check_file(journal, "probes", file)
    return fitted[name]["fit"]["variant"], read_arrays(file)


def write_report(
    journal: Journal, folder: Path, report: ProbeReport, made_by: str
) -> None:
    """Store or replace the report of one fit.

    `made_by` identifies all that it depends on.

    Raises:
        RunFailed: the disk is full.
    """
    if not report.reason:
        of_turns = {DECODED: report.decoded}
        for number, decoded in enumerate(report.further, start=1):
            of_turns[f"{FURTHER}{number}"] = decoded
        for name, scores in report.scores.items():
            of_turns[f"{SCORES}{name}"] = scores
        for name, scores in report.coded.scores.items():
            of_turns[f"{CODED}{name}"] = scores
        write_arrays(folder / f"{report.fit.name}.decoded.safetensors", of_turns)
    name = report.fit.name

    # A report that replaces another keeps its place.
    place = "(SELECT coalesce((SELECT place FROM probes WHERE fit = ?), (SELECT count(*) FROM probes)))"
    query = f"INSERT OR REPLACE INTO probes VALUES ({place}, ?, ?, ?, ?)"
    values = (name, report.fit.probe, name, made_by, to_json(_stored(report)))
    journal.write([(query, values)])


def files_of(folder: Path, fit: str) -> tuple[Path, Path]:
    """What a fit has learned, and what it decoded."""
    return folder / f"{fit}.safetensors", folder / f"{fit}.decoded.safetensors"


def made_by(journal: Journal) -> dict[str, str]:
    """What each stored fit was made by."""
    return dict(map(tuple, journal.query("SELECT fit, made_by FROM probes")))


@decoding("probes")
def read_reports(journal: Journal, folder: Path) -> tuple[ProbeReport, ...]:
    """The stored reports in the order of their first fits; none without probes."""
    rows = journal.query("SELECT * FROM probes ORDER BY place")
    return tuple(_report(journal, folder, json.loads(row["report"])) for row in rows)


def _stored(report: ProbeReport) -> dict[str, object]:
    """What the row of a fit holds: all but arrays, which have files."""
    plain = {name: getattr(report, name) for name in READERS}
    coded = {"rows": report.coded.rows, "worlds": report.coded.worlds}
    return dict(to_jsonable_python({**plain, "coded": coded}))


def _report(journal: Journal, folder: Path, stored: dict[str, Any]) -> ProbeReport:
    plain = {name: read.validate_python(stored[name]) for name, read in READERS.items()}
    coded = CODED_TURNS.validate_python(stored["coded"])
    decoded = np.zeros((0,), dtype=np.float32)
    arrays = {}
    if not plain["reason"]:
        _, file = files_of(folder, plain["fit"].name)
        manifest.check_file(journal, "probes", file)
        arrays = read_arrays(file)
        decoded = arrays.pop(DECODED)
    further = _named(arrays, FURTHER)
    return ProbeReport(
        **plain,
        decoded=decoded,
        further=tuple(further[str(i)] for i in range(1, len(further) + 1)),
        scores=_named(arrays, SCORES),
        coded=CodedTurns(**coded, scores=_named(arrays, CODED)),
    )


def _named(arrays: Mapping[str, Floats], prefix: str) -> Mapping[str, Floats]:
    """The arrays whose names begin so, without this beginning."""
    named = {}
    for name, array in arrays.items():
        if name.startswith(prefix):
            named[name.removeprefix(prefix)] = array
    return named
