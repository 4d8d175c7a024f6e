"""What a damaged run still holds is saved, and what it lacks is told."""

import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from whole_plan import whole_plan

from gde import GdeError, evaluate, load_evidence, report, resume
from gde.data.result import Result
from gde.request.catalogue import Catalogue, load_plugins
from gde.runs.salvaging import LIST, Salvage, salvage
from gde.runs.spending import spending
from gde.store.folder import RunFolder
from gde.store.journal import Journal
from gde.store.ownership import mark
from gde.store.salvage import KEPT

PAGE = 4096
JOURNAL = "run.sqlite"
LOG = "run.sqlite-wal"
HEAD = "run.head"
PLAN = "plan.toml"
DAMAGES, SEED = (
    int(os.environ.get("GDE_SALVAGES", 100)),
    int(os.environ.get("GDE_SEED", 1)),
)


@pytest.fixture(scope="module")
def parts() -> Catalogue:
    return Catalogue(load_plugins(modules=("gde.testing.plugin",)))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, parts: Catalogue) -> Path:
    """A finished run with answers, activations, probes, rewards and a result."""
    run = tmp_path_factory.mktemp("salvaging") / "run"
    evaluate(whole_plan(6), run, parts)
    return run


@pytest.fixture(scope="module")
def killed(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same run, killed before its last two episodes: much of it lies in the log."""
    going = Path(shutil.copytree(whole, tmp_path_factory.mktemp("killed") / "run"))
    mark(going)
    with closing(Journal.open(going / JOURNAL)) as journal:
        journal.forget(["0/4/0", "0/5/0"])
        asked = "DELETE FROM calls WHERE scope IN ('0/4/0', '0/5/0')"
        journal.write([(asked, ())])
        # Rows are written anew, so that the log has them.
        journal.write([("UPDATE turns SET reward = reward", ())])
        left = Path(shutil.copytree(going, going.with_name("left")))
    (left / "result.json").unlink()
    assert (left / LOG).stat().st_size > 3 * PAGE
    return left


@pytest.fixture
def damaged(whole: Path, tmp_path: Path) -> Path:
    run = Path(shutil.copytree(whole, tmp_path / "run"))
    mark(run)
    return run


def change(file: Path, how: Callable[[bytearray], object]) -> None:
    content = bytearray(file.read_bytes())
    how(content)
    file.write_bytes(content)


def zero(page: int) -> Callable[[bytearray], object]:
    """Overwrite a page with zeros."""

    def how(content: bytearray) -> None:
        content[page * PAGE : (page + 1) * PAGE] = bytes(PAGE)

    return how


def numbers(result: Result) -> list[object]:
    return [replace(one, source="") for one in result.measurements]


def rows(run: Path, table: str) -> set[tuple[object, ...]]:
    with closing(Journal.open(run / JOURNAL, write=False)) as journal:
        return set(map(tuple, journal.query(f"SELECT * FROM {table}")))


def check(found: Salvage, original: Path, whole: Path, parts: Catalogue) -> None:
    """Check what was saved, that losses are told, and what a resumed run gives."""
    out = Path(found.run)
    right = {str(one.key): one for one in load_evidence(original).trajectories}
    saved = {str(one.key): one for one in load_evidence(out).trajectories}
    complete = {str(one.key): one for one in load_evidence(whole).trajectories}
    assert all(complete[episode] == one for episode, one in saved.items())
    assert len(saved) == found.episodes

    told = "\n".join(found.lost)
    for episode in right.keys() - saved.keys():
        named = f"episode {episode}: " in told or " more episodes" in told
        assert named or episode in found.unfinished
    if "last" not in told and "which rows" not in told:
        for table in set(KEPT) - {"episodes", "turns"}:
            written = {row for row in rows(original, table) if row[0] != "salvaged"}
            if written - rows(out, table):
                assert f"rows of {table}" in told, table
    assert all(line in (out / LIST).read_text() for line in found.lost)

    assert report(out, catalogue=parts)
    assert spending(out).models or found.lost
    assert "Salvaged" in str(RunFolder.open(out).read_result().provenance["notice"])

    result = resume(out, parts)
    assert result.status == "ok"
    assert "Salvaged" not in str(result.provenance["notice"])
    assert numbers(result) == numbers(RunFolder.open(whole).read_result())
    again = {str(one.key): one for one in load_evidence(out).trajectories}
    assert again == complete


@pytest.mark.parametrize(
    ("page", "loss"),
    [(0, ""), (1, "rows of facts"), (5, "rows of turns"), (7, "rows of calls")],
)
def test_a_lost_page_costs_what_was_on_it(
    page: int, loss: str, damaged: Path, whole: Path, parts: Catalogue
) -> None:
    change(damaged / JOURNAL, zero(page))
    found = salvage(damaged, damaged.with_name("out"), parts)
    assert loss in "\n".join(found.lost)
    assert bool(loss) == bool(found.lost)
    check(found, whole, whole, parts)


def test_the_log_alone_is_enough_where_it_holds_every_page(
    damaged: Path, whole: Path, parts: Catalogue
) -> None:
    with closing(sqlite3.connect(damaged / JOURNAL)) as connection:
        connection.execute("VACUUM")
        left = Path(shutil.copytree(damaged, damaged.with_name("left")))
    mark(left)
    (left / JOURNAL).unlink()
    found = salvage(left, damaged.with_name("out"), parts)
    assert found.lost == ()
    check(found, whole, whole, parts)


def flip(rng: random.Random, content: bytearray) -> None:
    """Flip bits of up to eight bytes of a page."""
    begin = rng.randrange(0, len(content), PAGE)
    for _ in range(rng.randint(1, 8)):
        at = rng.randrange(begin, min(begin + PAGE, len(content)))
        content[at] ^= 1 << rng.randrange(8)


def erase(rng: random.Random, content: bytearray) -> None:
    """Overwrite up to three pages with zeros."""
    for _ in range(rng.randint(1, 3)):
        zero(rng.randrange(len(content) // PAGE + 1))(content)


def cut(rng: random.Random, content: bytearray) -> None:
    """Truncate."""
    del content[rng.randrange(len(content)) :]


@pytest.mark.extended
@pytest.mark.timeout(0)
@pytest.mark.parametrize("which", ["whole", "killed"])
def test_random_damages(
    which: str,
    whole: Path,
    tmp_path: Path,
    parts: Catalogue,
    request: pytest.FixtureRequest,
) -> None:
    original: Path = request.getfixturevalue(which)
    rng = random.Random(SEED)
    refused = 0
    saved = []
    for number in range(DAMAGES):
        run = Path(shutil.copytree(original, tmp_path / f"run{number}"))
        # As its owner has it, and as others do.
        if number % 2:
            mark(run)
        files = [run / name for name in (JOURNAL, JOURNAL, JOURNAL, LOG, HEAD, PLAN)]
        file = rng.choice(
            [each for each in files if each.is_file() and each.stat().st_size]
        )
        how = rng.choice([flip, flip, erase, cut, None])
        if how:
            change(file, partial(how, rng))
        else:
            file.unlink()
        out = tmp_path / f"out{number}"
        try:
            found = salvage(run, out, parts)
        except GdeError as error:
            assert "nothing can be saved" in str(error), (number, file, how)
            assert not out.exists()
            refused += 1
            continue
        try:
            check(found, original, whole, parts)
        except BaseException as error:
            error.add_note(f"damage {number}: {how} of {file.name}")
            raise
        saved.append(found.episodes)
        shutil.rmtree(run)
        shutil.rmtree(out)
    assert saved
    told = f"{len(saved)} salvaged, {sum(saved)} episodes; {refused} with nothing left"
    print(f"{which}, seed {SEED}: {told}")  # noqa: T201


def test_a_damaged_plan_is_taken_from_the_record(
    damaged: Path, whole: Path, parts: Catalogue
) -> None:
    (damaged / PLAN).write_bytes(b"\xff\xfe")
    found = salvage(damaged, damaged.with_name("out"), parts)
    assert len(found.lost) == 1
    assert "the run has the plan that it began with" in found.lost[0]
    check(found, whole, whole, parts)


def test_without_a_plan_nothing_is_saved(damaged: Path, parts: Catalogue) -> None:
    (damaged / PLAN).write_bytes(b"\xff\xfe")
    change(damaged / JOURNAL, zero(1))
    out = damaged.with_name("out")
    with pytest.raises(GdeError, match=r"saved without a plan: .*TOML"):
        salvage(damaged, out, parts)
    assert [*damaged.parent.iterdir()] == [damaged]


def test_a_file_without_any_row_is_refused(damaged: Path, parts: Catalogue) -> None:
    (damaged / JOURNAL).write_bytes(b"not SQLite" * 1000)
    with pytest.raises(GdeError, match="nothing can be saved: no row is whole"):
        salvage(damaged, damaged.with_name("out"), parts)
