"""Two studies of one kind compared, e.g. the profiles of two agents."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gde.comparisons.comparing import compare
from gde.comparisons.differences import Row, corrected
from gde.data.result import Measurement
from gde.errors import GdeError
from gde.request.catalogue import Catalogue
from gde.studies.study import Study, read_study


@dataclass(frozen=True, kw_only=True)
class Pair:
    """One number of both studies."""

    table: str
    quantity: str
    a: Measurement
    b: Measurement
    row: Row | None
    """Their difference over the worlds that both share; None where the number is one
    of a whole run, e.g. a p value.
    """


@dataclass(frozen=True, kw_only=True)
class ComparedStudies:
    """What the comparison of two studies found."""

    studies: tuple[Study, Study]
    """A and B."""
    pairs: tuple[Pair, ...]
    """p values are corrected after Holm (1979) over all of them together."""
    notes: tuple[str, ...]
    """Which runs have no pairs, and why."""


def compare_studies(
    folder_a: Path, folder_b: Path, catalogue: Catalogue | None = None
) -> ComparedStudies:
    """Compare the numbers of two studies, paired where their runs share worlds.

    Raises:
        GdeError: they are studies of different kinds, or the same.
        RunFolderError: a folder holds none.
    """
    a = read_study(folder_a)
    b = read_study(folder_b)
    if a.name != b.name:
        raise GdeError(
            f"{folder_a} is {a.name!r} and {folder_b} is {b.name!r}: name two studies of one kind"
        )

    if folder_a.samefile(folder_b):
        raise GdeError(f"{folder_a} and {folder_b} are the same study; choose two")

    catalogue = catalogue or Catalogue.default()
    rows: dict[tuple[str, Measured], Row] = {}
    notes = []
    for source in dict.fromkeys(row.source for row in a.rows):
        if source not in a.results or source not in b.results:
            continue
        try:
            compared = compare(a.folder / source, b.folder / source, catalogue)
        except GdeError as error:
            notes.append(f"{source}: {error}")
            continue
        for row in compared.rows:
            rows[source, _measured(row)] = row
    pairs = _corrected(list(_pairs(a, b, rows)))
    return ComparedStudies(studies=(a, b), pairs=tuple(pairs), notes=tuple(notes))


def _corrected(pairs: Sequence[Pair]) -> list[Pair]:
    """Correct over what is shown as one family, whatever each row is restricted to."""
    rows = [replace(one.row, where={}) for one in pairs if one.row is not None]
    again = iter(corrected(rows))
    found = []
    for one in pairs:
        if one.row is None:
            found.append(one)
            continue
        tests = next(again)
        found.append(replace(one, row=replace(one.row, p=tests.p, q=tests.q)))
    return found


Measured = tuple[str, frozenset[tuple[str, object]]]
"""Name and labels of a number."""


def _measured(one: Row | Measurement) -> Measured:
    return one.name, frozenset(one.where.items())


def _pairs(
    a: Study, b: Study, rows: Mapping[tuple[str, Measured], Row]
) -> Iterator[Pair]:
    others = {(row.table, row.quantity): row for row in b.rows}
    for one in a.rows:
        other = others.get((one.table, one.quantity))
        if other is not None:
            yield Pair(
                table=one.table,
                quantity=one.quantity,
                a=one.ours,
                b=other.ours,
                row=rows.get((one.source, _measured(one.ours))),
            )
