"""Every example runs, and says something."""

import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gde.errors import GdeError
from gde.request.catalogue import Catalogue
from gde.request.planfile import read_plan
from gde.request.settings import build
from gde.testing import check_plugin

EXAMPLES = Path(__file__).parents[2] / "examples"
EXECUTOR = Path(__file__).parents[2] / "docs" / "how-to" / "executor.md"
EMBEDDING = Path(__file__).parents[2] / "docs" / "embedding.md"


def run(*command: str | Path, folder: Path, **environment: str) -> str:
    """The standard output of a command that must succeed."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def python(example: str, *arguments: str | Path, folder: Path) -> str:
    return run(sys.executable, EXAMPLES / example, *arguments, folder=folder)


def test_embedded_and_reading_what_it_wrote(tmp_path: Path) -> None:
    shown = python("embedded.py", tmp_path / "run", folder=tmp_path)
    assert "density 0.0" in shown
    assert "density 1.0" in shown
    assert "episode 0/0/0 took" in shown
    read = python("read_a_run.py", tmp_path / "run", folder=tmp_path)
    assert read.count("turns, ") == 24
    assert "decisions ok:" in read


@pytest.mark.extended
def test_walking_by_the_manhattan_distance(tmp_path: Path) -> None:
    shown = python("by_distance.py", folder=tmp_path)
    lines = dict(line.split(maxsplit=1) for line in shown.splitlines())
    assert lines["success"].startswith("0.752 (0.625, 0.842")
    assert lines["accuracy"].startswith("0.884 (0.816")


def test_goal_directedness_in_the_cliff_world(tmp_path: Path) -> None:
    shown = python("meg_cliffworld.py", folder=tmp_path)
    assert (
        "goal of 1, errs with 0.0: 40.203 nats towards the reward (beta inf)" in shown
    )
    assert "mouse: 0.193 nats towards the cheese" in shown


def test_own_environment_as_a_script(tmp_path: Path) -> None:
    shown = python("own_environment.py", folder=tmp_path)
    assert "'largest': 2" in shown
    assert "'largest': 8" in shown


def test_own_environment_from_the_command_line(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "gde",
        "eval",
        "--env",
        "counter",
        "--agent",
        "random",
        "--episodes",
        "5",
    ]
    named = {"PYTHONPATH": str(EXAMPLES), "GDE_LOAD_PLUGINS": "own_environment"}
    shown = run(*command, "--metric", "success", "--json", folder=tmp_path, **named)
    assert '"status": "ok"' in shown


def test_own_environment_keeps_the_contract(tmp_path: Path) -> None:
    program = (
        "from own_environment import Counter, CounterConfig; import own_environment;"
        "from gde.testing import check_environment, check_plugin;"
        "check_environment(lambda: Counter(CounterConfig())); check_plugin(own_environment)"
    )
    run(sys.executable, "-c", program, folder=tmp_path, PYTHONPATH=str(EXAMPLES))


def test_own_executor_is_a_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join([str(EXAMPLES), os.environ.get("PYTHONPATH", "")])
    )
    own_executor = importlib.import_module("own_executor")
    check_plugin(own_executor)
    with pytest.raises(GdeError, match="executor 'pool' cannot send its work"):
        own_executor.Pool(1).check(lambda: None)


@pytest.mark.slow
def test_own_executor_changes_no_result_and_keeps_the_contract(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "gde",
        "eval",
        "--env",
        "grid",
        "--agent",
        "noisy",
        "--episodes",
        "2",
        "--json",
    ]
    named = {
        "PYTHONPATH": os.pathsep.join([str(EXAMPLES), os.environ.get("PYTHONPATH", "")])
    }
    named["GDE_LOAD_PLUGINS"] = "own_executor"
    words = {
        executor: run(
            *command,
            "--metric",
            "accuracy",
            "--executor",
            executor,
            folder=tmp_path,
            **named,
        )
        for executor in ("serial", "pool")
    }
    serial, pool = (json.loads(shown) for shown in words.values())
    assert (serial["status"], serial["measurements"]) == ("ok", pool["measurements"])
    (test,) = (
        code for code in EXECUTOR.read_text(encoding="utf-8").split("```python\n")[1:]
    )
    (tmp_path / "test_pool.py").write_text(test.partition("```")[0], encoding="utf-8")
    run(
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "test_pool.py",
        folder=tmp_path,
        **named,
    )


def test_third_party_plugin(tmp_path: Path) -> None:
    """Without installing it: its own tests, and an evaluation with the module named as
    a plugin.
    """
    there = {
        "PYTHONPATH": os.pathsep.join(
            [str(EXAMPLES / "third_party"), os.environ.get("PYTHONPATH", "")]
        )
    }
    tests = sorted((EXAMPLES / "third_party").glob("test_*.py"))
    quiet = ("-q", "-p", "no:cacheprovider", "--rootdir", tmp_path)
    run(sys.executable, "-m", "pytest", *quiet, *tests, folder=tmp_path, **there)
    command = [
        sys.executable,
        "-m",
        "gde",
        "eval",
        "--env",
        "grid",
        "--agent",
        "leftist",
        "--set",
        "agent.p=1",
    ]
    shown = run(
        *command,
        "--episodes",
        "2",
        "--json",
        folder=tmp_path,
        GDE_LOAD_PLUGINS="gde_leftist",
        **there,
    )
    assert '"measurements"' in shown


def test_third_party_numbers_are_shown_as_ours_are(tmp_path: Path) -> None:
    """Titles, units, groups and the sentence, of a metric and of a probe beside its
    controls.
    """
    pytest.importorskip("jinja2", reason="needs the extra report")
    path = os.pathsep.join(
        [str(EXAMPLES / "third_party"), os.environ.get("PYTHONPATH", "")]
    )
    there = {"PYTHONPATH": path, "GDE_LOAD_PLUGINS": "gde_tunnel,gde.testing.plugin"}
    gde = (sys.executable, "-m", "gde")
    asked = (
        "--env",
        "tunnel",
        "--agent",
        "asking",
        "--probe",
        "treasure",
        "--metric",
        "success",
    )
    screen = run(
        *gde,
        "eval",
        *asked,
        "--metric",
        "leftness",
        "--episodes",
        "40",
        "--out",
        "r",
        folder=tmp_path,
        **there,
    )
    said = " ".join(screen.split())
    page = (
        (tmp_path / "r" / "report.html")
        .read_text(encoding="utf-8")
        .replace("\u00a0", " ")
    )
    for text in (said, page):
        assert re.search(r"reached the goal in \d+ % of episodes", text)
        assert re.search(
            r"tells the end with the treasure in \d+ % of turns, not tested against prompt tokens",
            text,
        )
    for row in (r"Success rate .* \d+ %", r"Steps to the left .* 0 %"):
        assert re.search(f"^{row}", screen, re.MULTILINE)
    assert re.search(r"^Ends told apart .* prompt tokens", screen, re.MULTILINE)
    _, _, numbers = page.partition('id="questions"')
    summaries = re.findall(r"<summary>(.*?)</summary>", numbers)
    place = summaries.index("Behaviour")
    assert summaries[place + 1] == "Which way it leans"
    for title in ("Steps to the left", "Success rate"):
        assert page.count(f'<th scope="row">{title}</th>') == 1
        assert page.count(f"{title}<small>") == 1
    assert "Ends told apart, %" in page
    meant = run(*gde, "show", "metric", "leftness", folder=tmp_path, **there)
    assert (
        "Steps to the left" in meant
        and "share" in meant
        and "Which way it leans" in meant
    )


@pytest.mark.extended
def test_the_embedding_page_runs(tmp_path: Path) -> None:
    """Every block, one after the other, as a reader would."""
    blocks = re.findall(
        r"^```python\n(.*?)^```",
        EMBEDDING.read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    assert len(blocks) == 9
    importable = os.pathsep.join([str(EXAMPLES), os.environ.get("PYTHONPATH", "")])
    shown = run(
        sys.executable, "-c", "\n".join(blocks), folder=tmp_path, PYTHONPATH=importable
    )
    assert len(re.findall(r"^ok: runs/\S+ \(all", shown, re.MULTILINE)) == 5
    assert (
        len(re.findall(r"^Success rate +[\u251c\u2501\u25cf]", shown, re.MULTILINE))
        == 5
    )
    assert re.search(r"^Table\(\d+ rows: episode, ", shown, re.MULTILINE)
    assert "noisy and again, difference of the second from the first:" in shown
    assert "['ok', 'ok']" in shown
    assert "FrozenLake-v1 optimal [1.0, 6.0]" in shown
    assert "counted: ok" in shown
    assert "MiniGrid-Empty-5x5-v0 random [" in shown
    for name in ("noisy", "stubborn", "UP", "LEFT"):
        assert (tmp_path / "runs" / name / "result.json").is_file()


@pytest.mark.parametrize(
    "plan",
    sorted((EXAMPLES / "plans").glob("statefactory-*.toml")),
    ids=lambda path: path.stem,
)
def test_a_plan_is_one_that_can_be_read_and_asks_for_parts_that_are_there(
    plan: Path,
) -> None:
    read = read_plan(plan)
    catalogue = Catalogue.default()
    offers = [
        (each, catalogue.find("reward_model", each.name).offer) for each in read.rewards
    ]
    assert len({each.label for each, _ in offers}) == len(offers) >= 8
    for each, offer in offers:
        build(offer.config, each.config, each.label)
