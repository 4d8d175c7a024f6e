"""A published study: every plan in a folder of its own, what is finished kept, the
numbers side by side.
"""

import json
from pathlib import Path
from shutil import copytree, rmtree

import pytest
from typer.testing import CliRunner

from gde import Choice, GdeError, rescore
from gde.cli.main import build_app
from gde.reporting.study import opening
from gde.request.catalogue import Catalogue
from gde.stages.progress import Progress
from gde.studies.reproducing import Request, reproduce
from gde.studies.study import Study, study_json
from gde.testing.parts import ScriptedAgent
from gde_plugins.pages.run_page import HtmlReporter

SCRIPTED = Choice(name="scripted")


def study(
    out: Path, catalogue: Catalogue, agent: Choice = SCRIPTED, scale: float = 0.3
) -> Study:
    return reproduce(
        Request(name="corridors", scale=scale, agent=agent), out, catalogue
    )


def test_every_plan_is_run_and_held_against_the_printed_numbers(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    found = study(tmp_path / "study", catalogue)
    assert found.status == "ok"
    assert {path.name for path in (tmp_path / "study").iterdir()} == {"short", "long"}
    assert [(row.paper, row.ours.value, row.ours.n) for row in found.rows] == [
        (0.75, 1.0, 3),
        (None, 1.0, 3),
    ]
    assert found.figures == ()
    assert found.figures_missing == "figures need altair"
    assert json.loads(json.dumps(study_json(found)))["rows"][0]["ours"]["value"] == 1.0


def test_the_agent_is_whoever_is_asked_for(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    lost = Choice(name="scripted", config={"actions": ["LEFT"]})
    assert [
        row.ours.value for row in study(tmp_path / "study", catalogue, lost).rows
    ] == [0.0, 0.0]


def test_a_finding_begins_with_the_shares_of_readable_answers(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    nobody = Choice(name="scripted", config={"actions": ["NOWHERE"]})
    found = opening(study(tmp_path / "study", catalogue, nobody)).finding
    assert found.startswith("Answers that could be read: short 0 %, long 0 %.")


def test_what_is_finished_is_not_run_again(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    out = tmp_path / "study"
    first = study(out, catalogue)
    before = (out / "short" / "run.sqlite").stat().st_mtime_ns
    (out / "long" / "result.json").unlink()
    stages: list[Progress] = []
    again = reproduce(
        Request(name="corridors", scale=0.3, agent=SCRIPTED),
        out,
        catalogue,
        stages.append,
    )
    assert again.rows == first.rows
    assert (out / "short" / "run.sqlite").stat().st_mtime_ns == before
    assert [(each.done, each.total) for each in stages if each.stage == "plans"] == [
        (0, 2),
        (1, 2),
        (2, 2),
    ]


def test_failed_episodes_are_counted_and_run_again(
    tmp_path: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise OSError("the server is down")

    with monkeypatch.context() as patch:
        patch.setattr(ScriptedAgent, "act", fail)
        failed = study(tmp_path / "study", catalogue)
    assert failed.status != "ok"
    assert len(failed.failures) == 2
    assert "3 of 3 episodes failed and are in no number: 3 x" in failed.failures[0]
    assert "the server is down" in failed.failures[0]

    again = study(tmp_path / "study", catalogue)
    assert (again.status, again.failures) == ("ok", ())
    sound = study(tmp_path / "sound", catalogue)
    assert [row.ours for row in again.rows] == [row.ours for row in sound.rows]


def test_a_report_that_failed_is_made_when_the_study_is_named_again(
    tmp_path: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("out of ink")

    with monkeypatch.context() as patch:
        patch.setattr(HtmlReporter, "render", fail)
        failed = study(tmp_path / "study", catalogue)
    assert "OSError: out of ink" in failed.failures[0]
    page = tmp_path / "study" / "short" / "report.html"
    assert not page.exists()

    again = study(tmp_path / "study", catalogue)
    assert (again.status, again.failures, again.rows) == ("ok", (), failed.rows)
    assert page.is_file()


def test_a_folder_of_another_study_is_refused(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    study(tmp_path / "study", catalogue)
    with pytest.raises(
        GdeError,
        match="short holds a run of another plan: name another folder",
    ):
        study(tmp_path / "study", catalogue, scale=0.5)


@pytest.mark.parametrize("is_link", [False, True])
def test_a_run_of_somebody_else_is_no_part_of_a_study(
    is_link: bool,
    tmp_path: Path,
    catalogue: Catalogue,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its plan would say what is read."""
    with monkeypatch.context() as another_user:
        another_user.setenv("GDE_STATE", str(tmp_path / "state"))
        study(tmp_path / "theirs", catalogue)
    out = tmp_path / "mine"
    out.mkdir()
    if is_link:
        (out / "short").symlink_to(tmp_path / "theirs" / "short")
    else:
        copytree(tmp_path / "theirs" / "short", out / "short")
    refusal = "short is a link" if is_link else "short was not played here by you"
    with pytest.raises(GdeError, match=refusal):
        study(out, catalogue)
    assert [path.name for path in out.iterdir()] == ["short"]


def test_a_file_is_no_folder_of_a_study_and_that_is_told_first(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    (tmp_path / "file").write_text("data")
    for out in (tmp_path / "file", tmp_path / "file" / "study"):
        with pytest.raises(
            GdeError,
            match=f"cannot make the folder {out}: .*; choose another one",
        ):
            reproduce(
                Request(name="corridors", scale=0.3, agent=SCRIPTED),
                out,
                catalogue,
                watch=pytest.fail,
            )


def test_a_folder_of_another_study_is_refused_before_anything_is_run(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    study(tmp_path / "study", catalogue)
    rmtree(tmp_path / "study" / "short")
    with pytest.raises(GdeError, match="long holds a run of another plan"):
        study(tmp_path / "study", catalogue, scale=0.5)
    assert not (tmp_path / "study" / "short").exists()


def test_a_run_that_was_scored_otherwise_is_scored_again(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    first = study(tmp_path / "study", catalogue)
    rescore(tmp_path / "study" / "short", (Choice(name="length"),), catalogue)
    assert study(tmp_path / "study", catalogue).rows == first.rows


def test_all_plans_are_checked_before_the_first_is_run(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    with pytest.raises(GdeError, match="unknown agent 'nobody'"):
        study(tmp_path / "study", catalogue, Choice(name="nobody"))
    assert not (tmp_path / "study").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["corridors", "--scale", "0"],
            "Request.scale: wanted greater than 0, got 0.0",
        ),
        (
            ["corridors", "--scale", "2"],
            "Request.scale: wanted less than or equal to 1, got 2.0",
        ),
        (["corridors", "--set", "env.size=9"], "unknown part of --set 'env'"),
        (["corridors", "--set", "study.seeds=9"], "unknown field of study 'seeds'"),
        (
            ["armchair", "--agent", "scripted"],
            "armchair has agents of its own or none: leave out agent and model",
        ),
        (
            ["armchair", "--model", "hf:PATH"],
            "armchair has agents of its own or none: leave out agent and model",
        ),
        (
            ["armchair", "--set", "agent.p=1"],
            "armchair has agents of its own or none: leave out agent and model",
        ),
        (
            ["armchair", "--set", "model.depth=2"],
            "armchair has no plans to run: drop model settings",
        ),
        (
            ["armchair", "--reward", "oracle"],
            "no plan of armchair has reward models: leave them out",
        ),
    ],
)
def test_what_cannot_be_served_is_refused_in_one_line(
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("GDE_LOAD_PLUGINS", "gde.testing.plugin,odd_parts")
    found = CliRunner().invoke(build_app(), ["reproduce", *arguments])
    assert isinstance(found.exception, GdeError)
    assert message in str(found.exception)


def test_whoever_interrupts_it_is_told_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GDE_LOAD_PLUGINS", "gde.testing.plugin,odd_parts")
    command = [
        "reproduce",
        "corridors",
        "--agent",
        "scripted",
        "--scale",
        "0.2",
        "--out",
        str(tmp_path / "study"),
    ]
    with monkeypatch.context() as patch:
        patch.setattr("gde.studies.reproducing.load_evidence", interrupt)
        found = CliRunner().invoke(build_app(), command)
    assert found.exit_code == 130
    assert (
        f"resume with the same command and `--out {tmp_path / 'study'}`" in found.stderr
    )
    assert [path.name for path in (tmp_path / "study").iterdir()] == ["short"]
    assert CliRunner().invoke(build_app(), command).exit_code == 0


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_the_command_prints_the_table_and_writes_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GDE_LOAD_PLUGINS", "gde.testing.plugin,odd_parts")
    out = tmp_path / "study"
    options = [
        "--agent",
        "scripted",
        "--set",
        "agent.actions=LEFT,RIGHT,RIGHT",
        "--scale",
        "0.2",
        "--out",
        str(out),
    ]
    found = CliRunner().invoke(build_app(), ["reproduce", "corridors", *options])
    assert found.exit_code == 0, found.output
    assert "success in the short corridor" in found.stdout
    assert "100 % published 75" in found.stdout
    assert "all 2 numbers: --table markdown" in found.stderr
    assert json.loads((out / "reproduction.json").read_text())["status"] == "ok"
    assert "success in the long corridor" in (out / "reproduction.html").read_text()
