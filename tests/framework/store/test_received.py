"""A folder from the network is read, and nothing of it is obeyed."""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from forging import forge
from whole_plan import whole_plan

from gde import (
    Choice,
    GdeError,
    How,
    Plan,
    evaluate,
    load_evidence,
    probe,
    report,
    rescore,
    resume,
)
from gde.comparisons.comparing import compare
from gde.errors import RunFolderError
from gde.request.catalogue import Catalogue
from gde.request.ready import Ready
from gde.request.resolve import resolve
from gde.runs.trusting import disclose, trust_run
from gde.runs.verifying import verify
from gde.store import manifest
from gde.store.folder import RunFolder
from gde.store.journal import Journal
from gde.store.trust import trust

PLAN = Plan(environment="corridor", agent="scripted", metrics=["success"], episodes=3)


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Act as another user from now on; the call ends it."""
    monkeypatch.setenv("GDE_STATE", str(tmp_path / "their-list"))
    return lambda: monkeypatch.setenv("GDE_STATE", str(tmp_path / "my-list"))


@pytest.fixture
def received(theirs: Callable[[], None], tmp_path: Path, catalogue: Catalogue) -> Path:
    """A finished run that another user has sent."""
    run = tmp_path / "in" / "run"
    evaluate(PLAN, run, catalogue, how=How(max_calls=77, concurrency=3))
    theirs()
    return run


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


USES = (resume, rescore, probe, report)


@pytest.mark.parametrize("use", USES)
def test_a_received_folder_is_obeyed_when_its_user_has_trusted_it(
    use: Callable[..., object], received: Path, catalogue: Catalogue
) -> None:
    before = everything(received)
    names_it = rf"^{received} was not played here by you, .* `gde trust {received}`"
    with pytest.raises(GdeError, match=names_it) as refusal:
        use(received, catalogue=catalogue)
    assert "\n" not in str(refusal.value)
    assert everything(received) == before
    assert [each.name for each in received.parent.iterdir()] == ["run"]

    assert load_evidence(received, catalogue).trajectories
    trust_run(received)
    assert everything(received) == before
    if use is probe:
        # Trusted, it is refused for what it lacks.
        with pytest.raises(GdeError, match="has no probes to fit anew"):
            use(received, catalogue=catalogue)
    else:
        use(received, catalogue=catalogue)
    assert [each.name for each in received.parent.iterdir()] == ["run"]


def test_a_report_of_a_received_folder_is_written_elsewhere(
    received: Path, tmp_path: Path, catalogue: Catalogue
) -> None:
    before = everything(received)
    (page,) = report(received, catalogue=catalogue, out=tmp_path / "mine")
    assert page.parent == tmp_path / "mine"
    assert "success" in page.read_text().lower()
    assert everything(received) == before
    assert not RunFolder.open(received).is_trusted


def test_a_run_that_was_made_here_may_be_moved_and_copied(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    result = evaluate(PLAN, tmp_path / "run", catalogue)
    (tmp_path / "run").rename(tmp_path / "moved")
    shutil.copytree(tmp_path / "moved", tmp_path / "copied")
    for name in ("moved", "copied"):
        assert resume(tmp_path / name, catalogue).measurements == result.measurements
    assert {each.name for each in tmp_path.iterdir()} == {"moved", "copied"}


def test_runs_in_trusted_folders_are_trusted(
    received: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "settings.toml"
    monkeypatch.setenv("GDE_SETTINGS", str(settings))
    for folder, trusted in (("elsewhere", False), ("i", False), ("in", True)):
        settings.write_text(f'trusted_folders = ["{tmp_path / folder}"]')
        assert RunFolder.open(received).is_trusted == trusted
    (tmp_path / "link").symlink_to(tmp_path / "in")
    settings.write_text(f'trusted_folders = ["{tmp_path / "link"}"]')
    assert RunFolder.open(received).is_trusted
    # A link into such a folder makes nothing trusted that lies elsewhere.
    outside = Path(shutil.copytree(received, tmp_path / "outside"))
    (tmp_path / "in" / "link").symlink_to(outside)
    assert not RunFolder(tmp_path / "in" / "link").is_trusted


@pytest.mark.parametrize(
    "text",
    [
        '[executor]\nuse = "ray"\naddress = "ray://elsewhere:1"\n[run]\n',
        '[[report]]\nuse = "planted"\n[run]\n',
        '[run]\ncache = "/somewhere"\n',
    ],
)
def test_a_received_plan_that_says_how_is_refused_even_where_it_is_trusted(
    text: str, received: Path, catalogue: Catalogue
) -> None:
    plan = received / "plan.toml"
    plan.write_text(plan.read_text().replace("[run]\n", text))
    trust(received, (received / "plan.toml").read_bytes(), How())
    for use in USES:
        with pytest.raises(GdeError, match="says how"):
            use(received, catalogue=catalogue)
    with pytest.raises(GdeError, match="says how"):
        disclose(received, catalogue)


def test_how_to_go_on_is_said_by_the_user_who_trusts(
    received: Path,
    tmp_path: Path,
    catalogue: Catalogue,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text("concurrency = 5\nmax_calls = 9999")
    monkeypatch.setenv("GDE_SETTINGS", str(settings))
    assert RunFolder.open(received).last_how().max_calls == 9999
    trust_run(received)
    how = RunFolder.open(received).last_how()
    # Its limits stay, and nothing else of its makers.
    assert (how.max_calls, how.concurrency) == (77, 5)
    assert how.executor == Choice(name="serial")
    (limits,) = [
        line for line in disclose(received, catalogue).lines if "limits" in line
    ]
    assert limits == "limits that stay: max_calls=77"


def test_an_edited_plan_is_asked_about_again(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    run = tmp_path / "run"
    evaluate(PLAN, run, catalogue, how=How(max_calls=77))
    assert disclose(run, catalogue).trusted
    assert disclose(run, catalogue).changed == ()
    plan = run / "plan.toml"
    plan.write_text(plan.read_text().replace("seed = 0", "seed = 1"))
    with pytest.raises(GdeError, match="its plan was edited: look at it and trust"):
        resume(run, catalogue)
    shown = disclose(run, catalogue)
    assert not shown.trusted
    assert shown.changed == ("-seed = 0", "+seed = 1")
    trust_run(run)
    assert disclose(run, catalogue).trusted


def test_trust_is_of_one_user_and_kept_for_him_alone(
    tmp_path: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GDE_STATE", str(tmp_path / "my-list"))
    evaluate(PLAN, tmp_path / "run", catalogue)
    folder = RunFolder.open(tmp_path / "run")
    assert folder.is_trusted
    (entry,) = (tmp_path / "my-list" / "trusted").iterdir()
    assert entry.stat().st_mode & 0o777 == 0o600
    assert entry.parent.stat().st_mode & 0o777 == 0o700
    monkeypatch.setenv("GDE_STATE", str(tmp_path / "another"))
    assert not folder.is_trusted
    assert not (tmp_path / "another").exists()


def test_where_trust_cannot_be_kept_a_run_is_played_with_a_warning(
    tmp_path: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("GDE_STATE", str(tmp_path / "file"))
    with pytest.warns(UserWarning, match="name another place in GDE_STATE; later"):
        result = evaluate(PLAN, tmp_path / "run", catalogue)
    assert result.status == "ok"
    with pytest.raises(GdeError, match="cannot keep the list of trusted runs in"):
        trust_run(tmp_path / "run")
    with pytest.raises(GdeError, match="gde trust"):
        resume(tmp_path / "run", catalogue)


def test_the_last_how_of_a_run_is_found_again(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    run = tmp_path / "run"
    evaluate(PLAN, run, catalogue, how=How(max_calls=77, turn_seconds=9.0))
    last = RunFolder.open(run).last_how()
    assert (last.max_calls, last.turn_seconds) == (77, 9.0)
    assert [each.name for each in last.reporters] == ["html"]
    resume(run, catalogue, how=replace(last, max_calls=78))
    resume(run, catalogue)
    assert RunFolder.open(run).last_how() == replace(last, max_calls=78)
    # Another run of the same plan has its own.
    evaluate(PLAN, tmp_path / "other", catalogue)
    assert RunFolder.open(tmp_path / "other").last_how().max_calls is None
    assert RunFolder.open(run).last_how().max_calls == 78


def writer_link(run: Path, treasure: Path) -> None:
    for name in (".writer", ".lock", "report.html"):
        (run / name).unlink(missing_ok=True)
        (run / name).symlink_to(treasure)


def test_links_in_a_received_folder_are_never_followed(
    received: Path, treasure: Path, tmp_path: Path, catalogue: Catalogue
) -> None:
    writer_link(received, treasure)
    report(received, catalogue=catalogue, out=tmp_path / "mine")
    for refuse in (lambda: disclose(received, catalogue), lambda: trust_run(received)):
        with pytest.raises(GdeError, match="is a link or a special file"):
            refuse()
    for use in USES:
        with pytest.raises(GdeError):
            use(received, catalogue=catalogue)
    assert treasure.read_text() == "mine"


def test_whoever_writes_says_so_in_no_other_file(
    received: Path, treasure: Path, catalogue: Catalogue
) -> None:
    trust_run(received)
    (received / ".writer").symlink_to(treasure)
    rescore(received, catalogue=catalogue)
    assert treasure.read_text() == "mine"


def test_the_plan_that_was_shown_is_the_one_that_is_trusted(
    received: Path, catalogue: Catalogue
) -> None:
    shown = disclose(received, catalogue)
    plan = received / "plan.toml"
    plan.write_text(plan.read_text() + "# edited")
    with pytest.raises(GdeError, match=r"plan\.toml was edited meanwhile"):
        trust_run(received, shown)
    assert not RunFolder.open(received).is_trusted
    trust_run(received, disclose(received, catalogue))
    assert RunFolder.open(received).is_trusted


@pytest.mark.parametrize("use", [resume, rescore])
def test_a_plan_that_is_edited_while_a_command_runs_is_not_trusted(
    use: Callable[..., object],
    received: Path,
    catalogue: Catalogue,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trust_run(received)
    plan = received / "plan.toml"

    def edited(*args: Any, **options: Any) -> Ready:
        plan.write_text(plan.read_text() + "# edited")
        return resolve(*args, **options)

    monkeypatch.setattr("gde.before.preparing.resolve", edited)
    monkeypatch.setattr("gde.runs.adding.resolve", edited)
    more = {"metrics": ["accuracy"]} if use is rescore else {}
    with pytest.raises(GdeError, match="or its plan was edited"):
        use(received, catalogue=catalogue, **more)
    assert not RunFolder.open(received).is_trusted
    assert plan.read_text().endswith("# edited")


def test_the_lower_of_two_limits_holds(
    received: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "settings.toml"
    monkeypatch.setenv("GDE_SETTINGS", str(settings))
    for own, kept in (("max_calls = 3", 3), ("max_calls = 99", 77), ("", 77)):
        settings.write_text(own)
        trust_run(received)
        assert RunFolder.open(received).last_how().max_calls == kept
        (entry,) = Path(os.environ["GDE_STATE"], "trusted").iterdir()
        entry.unlink()


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


def test_a_plan_of_ones_own_makes_a_received_folder_not_ones_own(
    received: Path, catalogue: Catalogue
) -> None:
    for use in USES:
        with pytest.raises(GdeError, match="gde trust"):
            use(received, catalogue=catalogue, plan=RunFolder.open(received).plan())


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


def unwritable_result(run: Path, _: Path) -> None:
    """Half of a character, which JSON can say and no file can hold."""
    result = run / "result.json"
    result.write_text(
        result.read_text().replace('"gde-eval": "', '"gde-eval": "\\ud800', 1)
    )
    (run / "manifest.json").unlink()


def result_of_numbers(run: Path, _: Path) -> None:
    """Its provenance is no table."""
    result = run / "result.json"
    stored = json.loads(result.read_text())
    result.write_text(json.dumps({**stored, "provenance": 7}))
    (run / "manifest.json").unlink()


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
def of_file(
    theirs: Callable[[], None], grids: Path, tmp_path: Path, catalogue: Catalogue
) -> Path:
    """A received run whose plan names that file."""
    world = Choice(name="grid", config={"grids": str(grids)})
    plan = Plan(environment=world, agent="random", metrics=["success"])
    evaluate(plan, tmp_path / "received", catalogue)
    theirs()
    return tmp_path / "received"


def test_devices_are_not_read(of_file: Path, grids: Path, catalogue: Catalogue) -> None:
    grids.unlink()
    grids.symlink_to(os.devnull)
    with pytest.raises(GdeError, match=f"^{grids} is a link or a special file"):
        disclose(of_file, catalogue)


@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_files_are_shown_and_read_when_the_user_trusts(
    executor: str, of_file: Path, grids: Path, catalogue: Catalogue
) -> None:
    opened = grids.stat().st_atime_ns
    os.utime(grids, ns=(0, grids.stat().st_mtime_ns))
    with pytest.raises(GdeError, match="gde trust"):
        resume(of_file, catalogue)
    shown = disclose(of_file, catalogue).lines
    size = grids.stat().st_size
    assert f"grid.grids reads {grids} ({size} bytes)" in shown
    assert grids.stat().st_atime_ns == 0 < opened
    trust_run(of_file)
    # A run is not finished where a report is missing.
    (of_file / "result.json").unlink()
    with closing(Journal.open(of_file / "run.sqlite")) as journal:
        journal.forget(journal.finished())
    done = resume(of_file, catalogue, how=How(executor=executor))
    assert done.status == "ok"
    assert rescore(done.run, catalogue=catalogue).status == "ok"


def test_readers_open_no_files_that_a_received_plan_names(
    of_file: Path, grids: Path, catalogue: Catalogue
) -> None:
    def mdp() -> object:
        evidence = load_evidence(of_file, catalogue)
        assert evidence.mdp is not None
        return evidence.mdp(evidence.trajectories[0])

    with pytest.raises(GdeError, match="grid needs parts of a run that you do not"):
        mdp()
    trust_run(of_file)
    assert mdp()


def test_comparisons_make_no_world_of_a_run_that_is_not_trusted(
    theirs: Callable[[], None], tmp_path: Path, catalogue: Catalogue
) -> None:
    plan = Plan(
        environment="corridor",
        agent="scripted",
        metrics=["success", "efficiency"],
        episodes=3,
    )
    evaluate(plan, tmp_path / "theirs", catalogue)
    theirs()
    evaluate(replace(plan, agent="random"), tmp_path / "mine", catalogue)
    pair = [tmp_path / "mine", tmp_path / "theirs"]
    for a, b in (pair, pair[::-1]):
        found = compare(a, b, catalogue)
        assert {row.name for row in found.rows} == {"success"}
        (note,) = [note for note in found.notes if "efficiency" in note]
        assert note == (
            f"metric 'efficiency' is left out: you do not trust {pair[1]} (`gde trust {pair[1]}`)"
        )
    trust_run(tmp_path / "theirs")
    names = {row.name for row in compare(*pair, catalogue).rows}
    assert names == {"success", "efficiency.regret", "efficiency.spl"}


def test_parts_that_are_added_to_a_trusted_run_are_read_from_then_on(
    received: Path,
    theirs: Callable[[], None],
    tmp_path: Path,
    asking: Catalogue,
) -> None:
    log = tmp_path / "log"
    log.touch()
    poll = Choice(name="poll", config={"model": f"noted:{log}"})
    with pytest.raises(GdeError, match="gde trust"):
        rescore(received, [poll], asking)
    assert not log.read_text()
    trust_run(received)
    assert rescore(received, [poll], asking).status == "ok"
    assert log.read_text()
    recorded = RunFolder.open(received).recorded()
    assert [each.name for each in recorded.added["metrics"]] == ["poll"]
    assert "poll" not in [each.name for each in recorded.begun.metrics]
    # The addition asks nobody again.
    assert resume(received, asking).status == "ok"


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
    unwritable_result,
    result_of_numbers,
    says(
        "UPDATE facts SET value = json_remove(value, '$.how') WHERE name = 'provenance'"
    ),
    says("UPDATE facts SET value = '{' WHERE name = 'provenance'"),
    says("UPDATE facts SET value = '[]' WHERE name = 'episodes'"),
    says("UPDATE facts SET value = '[0.5]' WHERE name = 'conditions'"),
    says("UPDATE episodes SET facts = replace(hex(zeroblob(50000)), '0', '[')"),
    says("UPDATE episodes SET final_state = '7'"),
    says("UPDATE turns SET status = 'glorious'"),
    says("UPDATE turns SET optimal = '7'"),
    says("UPDATE turns SET optimal = '[{}]'"),
    says("""UPDATE turns SET probabilities = '{"LEFT": [1]}'"""),
    says("""UPDATE episodes SET labels = '[["user"]]'"""),
    says("""UPDATE episodes SET world_labels = '{"a": [1]}'"""),
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


@pytest.mark.parametrize("trusted", [False, True])
@pytest.mark.parametrize("damage", HOSTILE)
def test_hostile_folders_are_refused_in_one_line(
    damage: Callable[[Path, Path], None],
    trusted: bool,
    received: Path,
    treasure: Path,
    tmp_path: Path,
    catalogue: Catalogue,
) -> None:
    damage(received, treasure)
    before = everything(received)
    if trusted and (received / "plan.toml").is_file():
        trust(received, (received / "plan.toml").read_bytes(), How())

    def read() -> object:
        return RunFolder.open(received).read_result()

    faults: list[object] = []
    refused = 0
    for use in (
        lambda: load_evidence(received),
        lambda: report(received, catalogue=catalogue, out=tmp_path / "out"),
        read,
        lambda: faults.extend(verify(received)),
        lambda: disclose(received, catalogue),
        lambda: rescore(received, catalogue=catalogue),
        lambda: resume(received, catalogue),
        lambda: report(received, catalogue=catalogue),
    ):
        try:
            use()
        except GdeError as error:
            assert "\n" not in str(error)
            refused += 1
    assert refused or faults
    assert treasure.read_text() == "mine"
    if not trusted:
        assert everything(received) == before


def test_a_run_goes_on_without_commits_that_a_power_cut_has_lost(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    """The log ends early, and with it the episodes that it had."""
    run = tmp_path / "run"
    whole = evaluate(PLAN, run, catalogue)
    record = list(load_evidence(run).trajectories)
    with closing(Journal.open(run / "run.sqlite")) as journal:
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
        os.truncate(some / "run.sqlite-wal", cut)
        assert resume(some, catalogue).measurements == whole.measurements
        assert list(load_evidence(some).trajectories) == record


def test_a_journal_of_an_earlier_gde_is_refused_by_name(
    received: Path, tmp_path: Path, catalogue: Catalogue
) -> None:
    evaluate(PLAN, tmp_path / "made", catalogue)
    trust_run(received)
    for run in (received, tmp_path / "made"):
        with closing(sqlite3.connect(run / "run.sqlite")) as connection:
            connection.execute("PRAGMA user_version = 12")
        for use in (
            load_evidence,
            partial(resume, catalogue=catalogue),
            partial(rescore, catalogue=catalogue),
            lambda run: RunFolder(run).journal(),
        ):
            with pytest.raises(
                GdeError, match=r"written by an earlier gde \(schema 12"
            ):
                use(run)
        assert verify(run) != ()
