"""Several agents on the command line: one object on stdout, one folder to go on with,
refusals in one line.
"""

import json
import re
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


def test_any_number_of_runs_is_compared_and_the_settings_that_differ_are_shown(
    gde: Gde,
) -> None:
    for i, (agent, episodes) in enumerate((("scripted", "3"), ("random", "3"))):
        asked = ("--env", "corridor", "--agent", agent, "--episodes", episodes)
        gde("eval", *asked, "--metric", "success", "--out", f"run{i}", "--quiet")
    gde("eval", "--env", "corridor", "--agent", "scripted", "--episodes", "2",
        "--metric", "success", "--out", "x/run0", "--quiet")  # fmt: skip
    code, out, _ = gde("compare", "run0", "run1", "x/run0")
    assert code == 0
    lines = [line.split() for line in out.splitlines()]
    place = next(i for i, line in enumerate(lines) if line[:1] == ["agent"])
    head, *rows = lines[place : place + 4]
    assert head[:2] == ["agent", "episodes"]
    assert sorted(row[1:4] for row in rows) == [
        ["run0", "scripted", "3"],
        ["run1", "random", "3"],
        ["x/run0", "scripted", "2"],
    ]
    found = json.loads(gde("compare", "run0", "run1", "x/run0", "--json")[1])
    assert len(found["compared"]) == 3
    assert found["differing"]["run1"] == {"agent": "random", "episodes": 3}
    gde(*GOOD, "--out", "c", "--quiet")
    ranked = json.loads(gde("compare", "c", "run0", "--json")[1])["ranking"]
    assert {one["variant"] for one in ranked} == {"scripted", "random", "run0"}
    code, out, _ = gde("compare", "run0", "run1")
    assert "run1 against run0" in out and "run1: agent random" in out


@pytest.mark.parametrize(
    ("runs", "problem"),
    [
        (("run0", "run0", "run1"), "a run is named twice"),
        (("run0",), "wanted two runs; got 1"),
        (("run0", "run1", "none"), "no run folder none"),
        (("run0", "run1", "run1/../run1"), "a run is named twice"),
        (("run0", "run1", "run2", "--episodes", "success"), "wanted two runs; got 3"),
    ],
)
def test_runs_that_cannot_be_compared_are_refused_in_a_line(
    gde: Gde, runs: tuple[str, ...], problem: str
) -> None:
    for name in ("run0", "run1", "run2"):
        asked = ("--env", "corridor", "--agent", "random", "--episodes", "2")
        gde("eval", *asked, "--metric", "success", "--out", name, "--quiet")
    code, out, err = gde("compare", *runs)
    assert (code, out) == (2, "")
    assert problem in err and len(err.splitlines()) == 1


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


def test_an_option_of_the_run_wins_over_a_setting(gde: Gde) -> None:
    settings = ("--seed", "8", "--set", "run.seed=7", "--set", "run.repeats=2")
    _, out, _ = gde(*GOOD, *settings, "--dry-run", "--json")
    runs = [each["plan"]["run"] for each in json.loads(out)["variants"].values()]
    assert [(run["seed"], run["repeats"]) for run in runs] == [(8, 2)] * 2


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


def test_an_episode_is_written_as_an_animation_and_never_over_a_file(
    gde: Gde, tmp_path: Path
) -> None:
    gde(*("eval", "--env", "grid", "--agent", "optimal", "--episodes", "2"),
        *("--metric", "success", "--out", "run", "--quiet"))  # fmt: skip
    code, out, err = gde("view", "run", "0/1/0", "--out", "way.svg")
    assert (code, out) == (0, "") and err == "way.svg\n"
    written = (tmp_path / "way.svg").read_text()
    assert written.startswith("<svg")
    for problem, *asked in (
        ("File exists", "0/1/0", "--out", "way.svg"),
        ("writes one episode", "--out", "other.svg"),
        ("unknown episode", "0/9/0", "--out", "other.svg"),
    ):
        code, out, err = gde("view", "run", *asked)
        assert (code, out) == (2, "") and re.search(problem, err), err
    assert (tmp_path / "way.svg").read_text() == written
    assert not (tmp_path / "other.svg").exists()
