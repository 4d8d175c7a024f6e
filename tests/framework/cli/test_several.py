"""Several agents on the command line: one object on stdout, one folder to go on with,
refusals in one line.
"""

import json
from pathlib import Path

import pytest
from commands import Gde

GOOD = (
    "eval",
    "--env",
    "corridor",
    "--agent",
    "scripted,random",
    "--episodes",
    "3",
    "--metric",
    "success",
)


def test_a_contest_is_one_folder_that_every_command_takes(
    gde: Gde, tmp_path: Path
) -> None:
    code, out, err = gde(*GOOD, "--out", "c", "--quiet")
    assert code == 0 and "by success rate" in out
    assert err.splitlines() == ["report: c/report.html", "ok: c"]
    code, out, _ = gde("resume", "c", "--json")
    assert code == 0 and list(json.loads(out)["variants"]) == ["scripted", "random"]
    code, out, _ = gde("rescore", "c", "--metric", "length", "--json")
    assert code == 0 and "length" in out
    assert gde("report", "c")[1].splitlines()[0] == "c/report.html"
    assert gde("view", "c")[1].count("corridor") == 2
    code, out, err = gde("probe", "c")
    assert (code, out) == (
        2,
        "",
    ) and "is a contest: name one of its run folders" in err


def test_what_would_be_run_is_one_object_with_every_variant(
    gde: Gde, tmp_path: Path
) -> None:
    code, out, err = gde(*GOOD, "--dry-run", "--json")
    assert (code, err) == (0, "")
    assert {
        name: each["plan"]["agent"]["use"]
        for name, each in json.loads(out)["variants"].items()
    } == {
        "scripted": "scripted",
        "random": "random",
    }
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "agents", ["scripted,", ",", "scripted,scripted", "scripted,nobody"]
)
def test_names_that_make_no_contest_are_refused_in_a_line(
    gde: Gde, tmp_path: Path, agents: str
) -> None:
    code, out, err = gde("eval", "--env", "corridor", "--agent", agents)
    assert (code, out) == (2, "")
    assert len(err.strip().splitlines()) == 1 and "agent" in err
    assert not list(tmp_path.iterdir())


def test_a_folder_of_runs_is_named_by_the_day_and_numbered_when_taken(
    gde: Gde, tmp_path: Path
) -> None:
    one = (
        "eval",
        "--env",
        "corridor",
        "--agent",
        "scripted",
        "--episodes",
        "2",
        "--metric",
        "success",
        "--quiet",
    )
    for _ in range(2):
        assert gde(*one)[0] == 0
    first, second = sorted(path.name for path in (tmp_path / "runs").iterdir())
    assert (
        first[4:5] == "-"
        and first.endswith("-corridor-scripted")
        and second == f"{first}-2"
    )
    assert gde(*GOOD, "--quiet")[0] == 0
    assert any(
        path.name.endswith("-corridor-scripted-random")
        for path in (tmp_path / "runs").iterdir()
    )


def test_a_folder_without_runs_is_refused(gde: Gde, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    code, out, err = gde("view", "empty")
    assert (code, out) == (2, "") and "is no run folder and holds none" in err
