"""A folder from the network is read, and nothing of it is obeyed."""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from forging import forge
from whole_plan import whole_plan

from gde import (
    Choice,
    GdeError,
    Plan,
    evaluate,
    load_evidence,
    report,
    rescore,
    resume,
    write_plan,
)
from gde.errors import RunFolderError
from gde.request.catalogue import Catalogue
from gde.request.planfile import read_plan
from gde.request.secrets import Secrets
from gde.runs.verifying import verify
from gde.store import manifest
from gde.store.folder import RunFolder
from gde.store.journal import Journal
from gde.store.ownership import mark

PLAN = Plan(environment="corridor", agent="scripted", metrics=["success"], episodes=3)


@pytest.fixture
def received(tmp_path: Path, catalogue: Catalogue) -> Path:
    """A finished run as another user would send it."""
    made = tmp_path / "made"
    evaluate(PLAN, made, catalogue)
    return Path(shutil.copytree(made, tmp_path / "in" / "run"))


@pytest.fixture
def treasure(tmp_path: Path) -> Path:
    """A file of the user that nothing may touch."""
    path = tmp_path / "treasure"
    path.write_text("mine")
    return path


def everything(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


@pytest.mark.parametrize("use", [resume, rescore, report])
def test_a_received_folder_is_copied_before_it_is_written(
    use: Callable[..., object], received: Path, catalogue: Catalogue
) -> None:
    before = everything(received)
    use(received, catalogue=catalogue)
    assert everything(received) == before
    copy = received.with_name("run-copy")
    assert RunFolder.open(copy).is_own
    assert load_evidence(copy).trajectories == load_evidence(received).trajectories


def test_a_run_that_was_made_here_is_written_in_place(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    result = evaluate(PLAN, tmp_path / "run", catalogue)
    (tmp_path / "run").rename(tmp_path / "moved")
    assert resume(tmp_path / "moved", catalogue).measurements == result.measurements
    assert [each.name for each in tmp_path.iterdir()] == ["moved"]


def test_where_and_how_to_run_is_not_taken_from_a_received_plan(
    received: Path, catalogue: Catalogue, tmp_path: Path
) -> None:
    plan = received / "plan.toml"
    text = plan.read_text().replace(
        'use = "serial"', 'use = "ray"\naddress = "ray://elsewhere:1"'
    )
    cache = tmp_path / "cache.sqlite"
    text = text.replace("[run]\n", f'[run]\ncache = "{cache}"\n')
    plan.write_text(text)
    assert read_plan(plan).executor.name == "ray"
    resume(received, catalogue)
    own = read_plan(received.with_name("run-copy") / "plan.toml")
    assert own.executor == Choice(name="serial")
    assert own.cache == ""
    assert not cache.exists()


def test_an_edited_plan_is_noticed(tmp_path: Path, catalogue: Catalogue) -> None:
    evaluate(PLAN, tmp_path / "run", catalogue)
    plan = tmp_path / "run" / "plan.toml"
    plan.write_text(plan.read_text().replace('use = "serial"', 'use = "processes"'))
    assert not RunFolder.open(tmp_path / "run").is_own
    resume(tmp_path / "run", catalogue)
    assert (tmp_path / "run-copy").is_dir()


def test_a_mark_is_worth_nothing_elsewhere_or_for_another_user(
    tmp_path: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate(PLAN, tmp_path / "run", catalogue)
    folder = RunFolder.open(tmp_path / "run")
    assert folder.is_own
    shutil.copytree(tmp_path / "run", tmp_path / "copy")
    assert not RunFolder.open(tmp_path / "copy").is_own
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))
    assert not folder.is_own
    secret = tmp_path / "another" / "gde" / "secret"
    assert secret.stat().st_mode & 0o777 == 0o600
    secret.chmod(0o644)
    with pytest.raises(GdeError, match="others may read the key"):
        _ = folder.is_own


def test_a_run_made_elsewhere_sends_nothing_to_hosts_that_nobody_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    received = Secrets(keys_to=(), is_received=True)
    with pytest.raises(GdeError, match=r"would send requests to http://10\.0\.0\.1:80"):
        received.give("NO_SUCH_KEY", "http://10.0.0.1:80/v1")
    named = Secrets(keys_to=("http://10.0.0.1:80",), is_received=True)
    assert named.give("NO_SUCH_KEY", "http://10.0.0.1:80/v1") == ""
    monkeypatch.setenv("MY_KEY", "mine-and-mine")
    with pytest.raises(
        GdeError, match=r"MY_KEY holds .*--key-to http://10.0.0.1:80=MY_KEY"
    ):
        named.give("MY_KEY", "http://10.0.0.1:80/v1")
    both = Secrets(keys_to=("http://10.0.0.1:80=MY_KEY",), is_received=True)
    assert both.give("MY_KEY", "http://10.0.0.1:80/v1") == "mine-and-mine"
    assert both.give("NO_SUCH_KEY", "http://10.0.0.1:80/v1") == ""
    assert Secrets(keys_to=()).give("NO_SUCH_KEY", "http://10.0.0.1:80/v1") == ""


def test_a_run_made_elsewhere_sends_no_header_that_nobody_named() -> None:
    url, host = "http://10.0.0.1:80/v1", "http://10.0.0.1:80"
    with pytest.raises(
        GdeError,
        match=r"would send X-Org: theirs to .*--key-to http://10.0.0.1:80=X-Org",
    ):
        Secrets(keys_to=(host,), is_received=True).check_header("X-Org", "theirs", url)
    named = Secrets(keys_to=(f"{host}=X-Org",), is_received=True)
    named.check_header("X-Org", "theirs", url)
    with pytest.raises(GdeError, match="X-Team"):
        named.check_header("X-Team", "theirs", url)
    Secrets(keys_to=()).check_header("X-Org", "mine", url)


def writer_link(run: Path, treasure: Path) -> None:
    for name in (".writer", ".lock", "report.html"):
        (run / name).unlink(missing_ok=True)
        (run / name).symlink_to(treasure)


@pytest.mark.parametrize("use", [resume, rescore, report])
def test_links_in_a_received_folder_are_never_followed(
    use: Callable[..., object], received: Path, treasure: Path, catalogue: Catalogue
) -> None:
    writer_link(received, treasure)
    use(received, catalogue=catalogue)
    assert treasure.read_text() == "mine"
    assert not [*received.with_name("run-copy").rglob("*.writer")]


def test_files_behind_a_linked_folder_are_none_of_the_run(
    received: Path, treasure: Path
) -> None:
    private = treasure.parent / "private"
    private.mkdir()
    treasure.rename(private / "treasure")
    (received / "sub").symlink_to(private)
    with (
        closing(Journal.open(received / "run.sqlite", write=False)) as journal,
        pytest.raises(RunFolderError, match="wanted a plain file"),
    ):
        manifest.check_file(journal, "reports", received / "sub" / "treasure")


def test_a_plan_of_ones_own_gives_a_received_folder_no_keys(
    of_file: Path, grids: Path, catalogue: Catalogue
) -> None:
    own = RunFolder.open(of_file.with_name("run")).plan()
    with pytest.raises(GdeError, match=f"would read {grids}"):
        resume(of_file, catalogue, plan=own)


def super_journal(run: Path, treasure: Path) -> None:
    """A rollback journal that names a file to delete."""
    name = str(treasure).encode()
    tail = (
        name
        + len(name).to_bytes(4, "big")
        + sum(name).to_bytes(4, "big")
        + bytes.fromhex("d9d505f920a163d7")
    )
    head = bytes.fromhex("d9d505f920a163d7") + bytes(500)
    (run / "run.sqlite-journal").write_bytes(head + b"\0" * 4 + tail)


def link_of(name: str) -> Callable[[Path, Path], None]:
    def damage(run: Path, treasure: Path) -> None:
        (run / name).unlink(missing_ok=True)
        (run / name).symlink_to(treasure)

    return damage


def link_of_folder(run: Path, treasure: Path) -> None:
    (run / "activations").symlink_to(treasure.parent)


def link_of_report(run: Path, _: Path) -> None:
    """A digest would be computed of what has no end."""
    (run / "report.html").unlink()
    (run / "report.html").symlink_to("/dev/zero")


def pipe(run: Path, _: Path) -> None:
    (run / "result.json").unlink()
    os.mkfifo(run / "result.json")


def no_manifest(run: Path, _: Path) -> None:
    """It is none that gde writes."""
    (run / "manifest.json").write_bytes(b"\xff" * 768)


def lists(name: str) -> Callable[[Path, Path], None]:
    """A manifest with another file, with the digest that fits."""

    def damage(run: Path, _: Path) -> None:
        entries = json.loads((run / "manifest.json").read_text())
        del entries[manifest.SELF]
        entries["reports"][name] = entries["reports"].pop("report.html")
        manifest._write(run, entries)

    return damage


def trigger(run: Path, _: Path) -> None:
    with closing(sqlite3.connect(run / "run.sqlite")) as connection:
        connection.execute(
            "CREATE TRIGGER t AFTER INSERT ON facts BEGIN DELETE FROM turns; END"
        )


def says(change: str) -> Callable[[Path, Path], None]:
    """Rows that say what gde never writes, with digests that fit."""

    def damage(run: Path, _: Path) -> None:
        forge(run, change)

    return damage


def deep_plan(run: Path, _: Path) -> None:
    (run / "plan.toml").write_text("a = " + "[" * 100_000)


def deep_result(run: Path, _: Path) -> None:
    (run / "result.json").write_text("[" * 1_000_000)


@pytest.fixture
def grids(tmp_path: Path) -> Path:
    """A file of worlds that a plan names."""
    path = tmp_path / "mine" / "grids.jsonl"
    path.parent.mkdir()
    lines = []
    for number in range(2):
        rows = ["#####", "#___#", "#####"]
        one = {"id": str(number), "rows": rows, "agent": [1, 1], "goal": [1, 2]}
        lines.append(json.dumps(one))
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def of_file(grids: Path, tmp_path: Path, catalogue: Catalogue) -> Path:
    """A received run whose plan names that file."""
    world = Choice(name="grid", config={"grids": str(grids)})
    plan = Plan(environment=world, agent="random", metrics=["success"])
    evaluate(plan, tmp_path / "run", catalogue)
    return Path(shutil.copytree(tmp_path / "run", tmp_path / "received"))


def test_devices_are_not_read(of_file: Path, grids: Path, catalogue: Catalogue) -> None:
    grids.unlink()
    grids.symlink_to(os.devnull)
    with pytest.raises(GdeError, match=r"grid: .* names .*, which is no plain file"):
        resume(of_file, catalogue, reads=["/dev/null"])


@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_files_are_read_where_the_user_names_them_and_from_then_on(
    executor: str, of_file: Path, grids: Path, catalogue: Catalogue
) -> None:
    names_it = rf"grid: .* would read {grids}: .* --read {grids} "
    with pytest.raises(GdeError, match=names_it):
        resume(of_file, catalogue)
    assert not of_file.with_name("received-copy").exists()
    with pytest.raises(GdeError, match=names_it):
        resume(of_file, catalogue, reads=[grids.parent / "another"])
    # A run is not finished where a report is missing.
    (of_file / "result.json").unlink()
    with closing(Journal.open(of_file / "run.sqlite")) as journal:
        journal.forget(journal.finished())
    done = resume(of_file, catalogue, reads=[grids.parent], executor=executor)
    assert done.status == "ok"
    assert rescore(done.run, catalogue=catalogue).status == "ok"

    # Who sends a folder cannot say what its receiver allows.
    again = shutil.copytree(done.run, of_file.with_name("again"))
    with pytest.raises(GdeError, match=names_it):
        resume(again, catalogue)


def test_readers_open_no_files_that_a_received_plan_names(
    of_file: Path, grids: Path, tmp_path: Path, catalogue: Catalogue
) -> None:
    def mdp(run: Path) -> object:
        evidence = load_evidence(run, catalogue)
        assert evidence.mdp is not None
        return evidence.mdp(evidence.trajectories[0])

    assert mdp(tmp_path / "run")
    with pytest.raises(GdeError, match=rf"grid: .* would read {grids}"):
        mdp(of_file)
    rescore(of_file, catalogue=catalogue, reads=[grids])
    assert mdp(of_file.with_name("received-copy"))


def test_a_file_that_the_user_names_with_a_part_is_read(
    received: Path, tmp_path: Path, asking: Catalogue
) -> None:
    log = tmp_path / "log"
    log.touch()
    poll = Choice(name="poll", config={"model": f"noted:{log}"})
    done = rescore(received, [poll], asking)
    assert done.status == "ok"
    assert log.read_text()

    again = Path(shutil.copytree(done.run, tmp_path / "again"))
    (failure,) = rescore(again, catalogue=asking).failures
    assert f"would read {log}" in failure.reason


def test_reporters_are_not_taken_from_a_received_plan(
    received: Path, catalogue: Catalogue
) -> None:
    plan = received / "plan.toml"
    plan.write_text(write_plan(replace(read_plan(plan), reporters=["planted"])))
    resume(received, catalogue)
    own = read_plan(received.with_name("run-copy") / "plan.toml")
    assert "planted" not in [each.name for each in own.reporters]


HOSTILE = [
    super_journal,
    *map(link_of, ("run.sqlite", "run.sqlite-wal", "manifest.json", "plan.toml")),
    link_of("result.json"),
    link_of_folder,
    pipe,
    no_manifest,
    lists("/dev/zero"),
    lists("../treasure"),
    lists("a" * 5000),
    trigger,
    deep_plan,
    deep_result,
    says("UPDATE facts SET value = '{' WHERE name = 'provenance'"),
    says("UPDATE facts SET value = '[]' WHERE name = 'episodes'"),
    says("UPDATE facts SET value = '[0.5]' WHERE name = 'conditions'"),
    says("UPDATE episodes SET facts = replace(hex(zeroblob(50000)), '0', '[')"),
    says("UPDATE episodes SET final_state = '7'"),
    says("UPDATE turns SET status = 'glorious'"),
    says("UPDATE turns SET optimal = '7'"),
    link_of_report,
]


@pytest.mark.parametrize(
    "change",
    [
        """UPDATE facts SET value = replace(value, '"name":', '"other":') WHERE name = 'models'""",
        "UPDATE facts SET value = '{\"planted\": 7}' WHERE name = 'models'",
        "UPDATE probes SET report = json_set(report, '$.reason', 7)",
    ],
)
def test_models_and_probes_that_gde_never_writes_are_refused(
    change: str, tmp_path: Path, catalogue: Catalogue
) -> None:
    evaluate(whole_plan(3), tmp_path / "run", catalogue)
    says(change)(tmp_path / "run", tmp_path)
    with pytest.raises(GdeError, match="is none that gde writes"):
        rescore(tmp_path / "run", catalogue=catalogue)


@pytest.mark.parametrize("damage", HOSTILE)
def test_hostile_folders_are_refused_in_one_line(
    damage: Callable[[Path, Path], None],
    received: Path,
    treasure: Path,
    catalogue: Catalogue,
) -> None:
    damage(received, treasure)
    before = everything(received)

    def read() -> object:
        return RunFolder.open(received).read_result()

    refused = 0
    for use in (
        lambda: load_evidence(received),
        lambda: rescore(received, catalogue=catalogue),
        lambda: resume(received, catalogue),
        lambda: report(received, catalogue=catalogue),
        read,
    ):
        try:
            use()
        except GdeError as error:
            assert "\n" not in str(error)
            refused += 1
    assert refused or verify(received)
    assert treasure.read_text() == "mine"
    assert everything(received) == before


def test_a_run_goes_on_without_commits_that_a_power_cut_has_lost(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    """The log ends early, and with it the episodes that it had."""
    run = tmp_path / "run"
    whole = evaluate(PLAN, run, catalogue)
    record = list(load_evidence(run).trajectories)
    with closing(RunFolder.open(run).journal()) as journal:
        rows = {
            table: journal.query(f"SELECT * FROM {table} WHERE episode <> '0/0/0'")
            for table in ("turns", "episodes")
        }
        journal.forget(["0/1/0", "0/2/0"])
        for table, found in rows.items():
            places = ", ".join("?" * len(found[0]))
            for row in found:
                query = f"INSERT INTO {table} VALUES ({places})"
                journal.write([(query, tuple(row))])
        played = Path(shutil.copytree(run, tmp_path / "killed"))
    size = (played / "run.sqlite-wal").stat().st_size
    for cut in range(0, size, size // 9):
        some = Path(shutil.copytree(played, tmp_path / f"cut{cut}"))
        mark(some)
        os.truncate(some / "run.sqlite-wal", cut)
        assert resume(some, catalogue).measurements == whole.measurements
        assert list(load_evidence(some).trajectories) == record


def test_a_journal_of_an_earlier_gde_is_refused_by_name(
    received: Path, tmp_path: Path, catalogue: Catalogue
) -> None:
    for run in (received, tmp_path / "made"):
        with closing(sqlite3.connect(run / "run.sqlite")) as connection:
            connection.execute("PRAGMA user_version = 12")
        for use in (load_evidence, resume, rescore, RunFolder.journal):
            with pytest.raises(
                GdeError, match=r"written by an earlier gde \(schema 12"
            ):
                use(RunFolder(run) if use is RunFolder.journal else run)
        assert verify(run) != ()
