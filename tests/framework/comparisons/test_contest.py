"""Several variants in one folder: their runs, what they differ in, and going on after
an interruption.
"""

import re
import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from gde.comparisons.comparing import compare
from gde.comparisons.contest import (
    Contest,
    contest,
    contest_json,
    is_contest,
    members,
    read_contest,
    report_contest,
    rescore_contest,
    resume_contest,
)
from gde.data.how import How
from gde.data.plan import Choice, Plan
from gde.errors import GdeError, RunFolderError
from gde.reporting.contest import verdicts
from gde.reporting.pages import write_page
from gde.reporting.terminal.contest_screen import contest_screen
from gde.request.catalogue import Catalogue, load_plugins
from gde.runs.trusting import runs_in, trust_run
from gde.store.folder import RunFolder
from gde.store.journal import Journal


def plans(*agents: str, env: str = "corridor", length: int = 12) -> dict[str, Plan]:
    environment = Choice(name=env, config={"length": length})
    metrics = (Choice(name="accuracy"), Choice(name="success"))
    return {
        each: Plan(environment=environment, agent=each, episodes=20, metrics=metrics)
        for each in agents
    }


@pytest.fixture(scope="module")
def parts() -> Catalogue:
    return Catalogue(load_plugins(modules=("gde.testing.plugin", "odd_parts")))


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory, parts: Catalogue) -> Contest:
    return contest(
        plans("scripted", "random", "optimal"),
        tmp_path_factory.mktemp("runs") / "contest",
        parts,
    )


def test_each_variant_has_a_run_of_its_own_on_the_same_worlds(found: Contest) -> None:
    assert is_contest(found.folder) and not is_contest(found.folder / "random")
    assert (
        list(members(found.folder))
        == list(found.results)
        == ["scripted", "random", "optimal"]
    )
    assert (
        {result.status for result in found.results.values()} == {found.status} == {"ok"}
    )
    stored = contest_json(found)
    assert len(stored["compared"]) == 3 and list(stored["variants"]) == list(
        found.results
    )


def test_p_values_are_corrected_over_all_pairs_together(
    found: Contest, parts: Catalogue
) -> None:
    scripted, random, _ = members(found.folder).values()
    alone = {
        (row.name, *row.where): row for row in compare(scripted, random, parts).rows
    }
    among = {(row.name, *row.where): row for row in found.compared[0].rows}
    tested = [key for key, row in alone.items() if row.p is not None]
    assert tested and all((among[key].p or 0) > (alone[key].p or 0) for key in tested)
    assert all(among[key].difference == alone[key].difference for key in alone)


def test_page_and_screen_tell_every_variant_and_what_is_clear(found: Contest) -> None:
    page, _ = write_page(found)
    assert page is not None and page == found.folder / "report.html"
    text = page.read_text()
    assert all(f'href="{name}/report.html"' in text for name in found.results)
    assert "scripted" in text and "<script>" in text and "http:" not in text
    lines = contest_screen(found)
    assert len(lines) <= 22 and max(map(len, lines)) <= 80
    clear = re.compile(r"[A-Z][\w ]+: \w+ [\d.]+\spoints below scripted on average")
    assert any(clear.match(line) for line in verdicts(found))


def test_the_ranking_is_the_same_on_screen_page_and_as_json(found: Contest) -> None:
    stored = contest_json(found)
    order = [one["variant"] for one in stored["ranking"]]
    assert order == ["scripted", "optimal", "random"]
    assert [one["rank"] for one in stored["ranking"]] == [1, 1, 3]
    assert stored["ranking"][2]["verdict"]["outcome"] == "worse"
    subject, leads, end, limits, _, title, _, *rows = contest_screen(found)
    assert limits.startswith("Limits: optimal not tested against scripted; too few ")
    assert subject == "3 variants \u00b7 corridor \u00b7 9 worlds"
    assert f"{leads} {end}".startswith(
        "random (30 %) is clearly behind in success rate; between scripted and optimal (100 %) no difference is shown."
    )
    assert title.startswith("3 variants in corridor by success rate; equal ranks")
    assert [row.split()[:2] for row in rows[:3]] == [
        ["1", "scripted"],
        ["1", "optimal"],
        ["3", "random"],
    ]
    page, _ = write_page(found)
    assert page is not None
    text = page.read_text()
    table = text[text.index('id="ranking"') : text.index("Pairwise differences")]
    assert (
        table.index(">scripted<") < table.index(">optimal<") < table.index(">random<")
    )
    assert "worse than scripted by" in table
    # Every axis says where it ends.
    assert text.count('class="end left"') == text.count('class="axis"') > 0


def test_variants_that_do_the_same_do_not_differ(
    tmp_path: Path, parts: Catalogue
) -> None:
    same = plans("scripted")["scripted"]
    found = contest({"one": same, "two": same}, tmp_path / "contest", parts)
    assert verdicts(found) == []


def test_going_on_runs_only_what_is_not_finished(
    found: Contest, tmp_path: Path, parts: Catalogue
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(found.folder, folder)
    (folder / "random" / "result.json").unlink()
    kept = (folder / "optimal" / "result.json").stat().st_mtime_ns
    again = resume_contest(folder, parts)
    assert again.results["random"].measurements == found.results["random"].measurements
    assert (folder / "optimal" / "result.json").stat().st_mtime_ns == kept
    more = rescore_contest(folder, ["length"], parts)
    assert all(
        any(one.name == "length" for one in result.measurements)
        for result in more.results.values()
    )
    assert len(report_contest(folder, catalogue=parts)) == 3


def test_each_variant_is_done_as_it_was_asked_for(
    tmp_path: Path, parts: Catalogue
) -> None:
    """Also what its choices say of how, which its run folder does not hold."""
    asking = plans("asking-logged")["asking-logged"]
    both = {}
    for name, price in (("one", 1.0), ("two", 2.0)):
        config = {"log": str(tmp_path / name), "prices": (price, price)}
        own = Choice(name="", config=config)
        both[name] = replace(asking, models=[own])
    folder = tmp_path / "contest"
    found = contest(both, folder, parts, how=How(concurrency=9))
    assert found.status == "ok"
    for name, price in (("one", 1.0), ("two", 2.0)):
        last = RunFolder.open(folder / name).last_how()
        assert last.concurrency == 9
        assert last.prices == {"logged": (price, price)}
        (used,) = found.results[name].models
        assert used.usage.cost is not None


@pytest.mark.parametrize("is_finished", [False, True])
def test_a_contest_of_others_is_done_nothing_with(
    is_finished: bool,
    found: Contest,
    tmp_path: Path,
    parts: Catalogue,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = Path(shutil.copytree(found.folder, tmp_path / "copy"))
    if not is_finished:
        (folder / "random" / "result.json").unlink()
    monkeypatch.setenv("GDE_STATE", str(tmp_path / "of another user"))
    before = {one: one.read_bytes() for one in folder.rglob("*") if one.is_file()}
    for use in (resume_contest, rescore_contest, report_contest):
        with pytest.raises(GdeError, match="`gde trust"):
            use(folder, catalogue=parts)
    assert before == {
        one: one.read_bytes() for one in folder.rglob("*") if one.is_file()
    }
    for run in runs_in(folder):
        trust_run(run)
    assert resume_contest(folder, parts).status == "ok"


def test_a_run_that_was_rescored_before_it_was_over_goes_on(
    tmp_path: Path, parts: Catalogue
) -> None:
    folder = tmp_path / "contest"
    whole = contest(plans("scripted", "random"), folder, parts)
    result = folder / "random" / "result.json"
    with closing(Journal.open(folder / "random" / "run.sqlite")) as journal:
        journal.forget(["0/7/0"])
    interrupted = rescore_contest(folder, catalogue=parts)
    assert interrupted.results["random"].status == interrupted.status == "partial"
    again = resume_contest(folder, parts)
    assert again.status == "ok"
    assert again.results["random"].measurements == whole.results["random"].measurements
    assert result.is_file()


def test_runs_that_cannot_be_compared_are_not_all_right(
    found: Contest, tmp_path: Path, parts: Catalogue
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(found.folder, folder)
    (folder / "random" / "plan.toml").write_text("garbage")
    again = read_contest(folder, parts)
    assert again.status == "partial" and "plan.toml" in again.reason


def test_a_refused_plan_leaves_nothing_behind(tmp_path: Path, parts: Catalogue) -> None:
    bad = {**plans("scripted"), **plans("nobody")}
    with pytest.raises(GdeError, match="unknown agent 'nobody'"):
        contest(bad, tmp_path / "contest", parts)
    assert not (tmp_path / "contest").exists()


def test_a_folder_of_several_runs_says_what_it_is(
    found: Contest, parts: Catalogue
) -> None:
    with pytest.raises(
        RunFolderError, match="is a contest: name one of its run folders"
    ):
        RunFolder.open(found.folder)
    with pytest.raises(
        RunFolderError,
        match=r"exists: choose another folder, or resume it with `gde resume",
    ):
        contest(plans("scripted", "random"), found.folder, parts)


@pytest.mark.parametrize(
    "names",
    ['["../elsewhere"]', '["/etc"]', '[".."]', "[1]", '"random"', "[]", '["a", "a"]'],
)
def test_the_names_of_a_stranger_lead_nowhere(tmp_path: Path, names: str) -> None:
    (tmp_path / "contest.toml").write_text(f"version = 1\nvariants = {names}\n")
    with pytest.raises(
        RunFolderError, match=r"contest.toml: wanted (version 1 and )?the names of"
    ):
        members(tmp_path)


def test_a_variant_of_too_long_a_name_is_no_run(
    tmp_path: Path, parts: Catalogue
) -> None:
    name = "a" * 300
    (tmp_path / "contest.toml").write_text(f'version = 1\nvariants = ["{name}"]\n')
    with pytest.raises(RunFolderError, match="File name too long"):
        rescore_contest(tmp_path, catalogue=parts)


def test_runs_of_a_contest_are_not_behind_links(
    found: Contest, tmp_path: Path, parts: Catalogue
) -> None:
    (tmp_path / "contest.toml").write_text((found.folder / "contest.toml").read_text())
    for name in found.results:
        (tmp_path / name).symlink_to(found.folder / name)
    with pytest.raises(RunFolderError, match="is a link"):
        rescore_contest(tmp_path, catalogue=parts)
