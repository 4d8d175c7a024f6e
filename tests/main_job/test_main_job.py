"""The main job with its real parts: nano walks grids, a probe decodes its map, a page
shows it.
"""

import json
import os
import shutil
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gde import Choice, Plan, evaluate, load_evidence
from gde.cli.main import build_app, main
from gde.runs.exporting import export

pytest.importorskip("torch", reason="needs the extra llm")

PROBED = ("eval", "--env", "grid", "--probe", "cogmap")
MAIN_JOB = (*PROBED, "--agent", "gpt-oss")


def gde(
    *arguments: str, cwd: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gde", *arguments]
    return subprocess.run(
        command,
        env={**os.environ, **environment},
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=1100,
        check=False,
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """Too small for its probes to have learned anything; in this process, which has
    loaded torch already.
    """
    folder = tmp_path_factory.mktemp("main")
    smaller = ("--episodes", "14", "--json")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        done = CliRunner().invoke(build_app(), [*MAIN_JOB, *smaller])
    assert done.exit_code == 0, done.output
    return {"folder": folder, **json.loads(done.stdout)}


def numbers(run: dict[str, object], name: str, **where: object) -> list[float]:
    found = [each for each in run["measurements"] if each["name"] == name]  # type: ignore[attr-defined]
    return [each["value"] for each in found if where.items() <= each["where"].items()]


@pytest.mark.extended
def test_nano_finds_most_goals_and_its_map_is_in_its_activations(
    tmp_path: Path,
) -> None:
    """Random weights in nano's own initialisation hold the places too: of them nothing
    is asked here.
    """
    before = ("--set", 'cogmap.positions=["pre"]')
    done = gde(*MAIN_JOB, *before, "--episodes", "100", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    run = json.loads(done.stdout)
    assert numbers(run, "success")[0] > 0.7
    assert numbers(run, "accuracy")[0] > 0.7
    assert numbers(run, "outcomes.ok")[0] > 0.95

    main = {"variant": "places", "position": "pre"}
    for thing in ("agent", "goal"):
        (found,) = numbers(run, f"cogmap.top1.{thing}", control="none", **main)
        assert found > 0.9
        (ours,) = numbers(run, f"cogmap.distance.{thing}", control="none", **main)
        for control in ("no_activations", "shuffled"):
            (theirs,) = numbers(
                run, f"cogmap.distance.{thing}", control=control, **main
            )
            assert ours < theirs / 2


def test_the_fits_before_and_after_are_all_there_with_every_control(
    run: dict[str, object],
) -> None:
    for position in ("pre", "post"):
        for control in ("none", "no_activations", "prompt", "shuffled", "untrained"):
            where = {"variant": "places", "position": position, "control": control}
            assert len(numbers(run, "cogmap.accuracy", **where)) == 1


def test_a_small_model_is_compared_with_as_many_initialisations_as_say_one_in_twenty(
    run: dict[str, object],
) -> None:
    drawn = {
        one["where"]["control"]: one["verdict"]["draws"]
        for one in run["measurements"]  # type: ignore[attr-defined]
        if one["verdict"] and one["where"].get("control", "none") != "none"
    }
    assert drawn == {"no_activations": 1, "prompt": 1, "shuffled": 5, "untrained": 19}


def test_every_page_made_with_nano_says_so(run: dict[str, object]) -> None:
    page = (Path(str(run["folder"])) / str(run["run"]) / "report.html").read_text()
    notice = run["provenance"]["notice"]  # type: ignore[index]
    assert "is not GPT-OSS-20B" in notice
    assert "is not GPT-OSS-20B" in " ".join(page.split())


def test_compare_shows_the_tests_of_probes_as_the_result_does(
    run: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(str(run["folder"])) / str(run["run"])
    for name in ("a", "b"):
        shutil.copytree(folder, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    compared = CliRunner().invoke(build_app(), ["compare", "a", "b", "--json"])
    tested = {}
    main = {"variant": "places", "layer": 3, "position": "pre", "control": "none"}
    for one in run["measurements"]:  # type: ignore[attr-defined]
        if one["where"] == main and one["verdict"]:
            tested[one["name"]] = one["verdict"]
    headlines = ("top1.agent", "top1.goal", "code.wall")
    assert tested.keys() == {f"cogmap.{name}" for name in headlines}

    rows = json.loads(compared.stdout)["probes"]
    shown = {row["name"]: row for row in rows if row["a"]["where"] == main}
    assert shown.keys() == tested.keys()
    for name, row in shown.items():
        assert row["a"]["verdict"] == row["b"]["verdict"] == tested[name]
    table = CliRunner().invoke(build_app(), ["compare", "a", "b"])
    assert "Wall code length" in table.stdout


def test_split_is_by_world_and_the_same_for_all_fits(run: dict[str, object]) -> None:
    evidence = load_evidence(Path(str(run["folder"])) / str(run["run"]))
    world = {str(each.key): each.world.id for each in evidence.trajectories}
    tested = [
        {world[episode] for episode, _ in report.rows}
        for report in evidence.probe_reports
    ]
    assert all(each <= tested[0] for each in tested)
    assert len(tested[0]) == round(0.3 * len(set(world.values())))


@pytest.mark.extended
def test_nothing_about_how_it_is_run_changes_a_byte(tmp_path: Path) -> None:
    sweep = ("eval", "--env", "grid", "--agent", "gpt-oss", "--set", "env.size=5,7")
    short = ("--episodes", "4", "--metric", "success")
    together = ("--concurrency", "32", "--out", "together")
    workers = ("--concurrency", "1", "--executor", "processes", "--out", "workers")

    records = set()
    for options, hash_seed in ((together, "0"), (workers, "1")):
        done = gde(*sweep, *short, *options, cwd=tmp_path, PYTHONHASHSEED=hash_seed)
        assert done.returncode == 0, done.stderr
        text = StringIO()
        assert export(tmp_path / options[-1], "jsonl", text) == 8
        records.add(text.getvalue())
    assert len(records) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--set", "env.size=8"), "wanted an odd size"),
        (
            ("--set", "env.size=3"),
            "env.size: wanted greater than or equal to 5, got '3'",
        ),
        (
            ("--set", "env.density=1.5"),
            "env.density: wanted less than or equal to 1, got '1.5'",
        ),
        (("--set", "agent.model=hf:/nowhere/at/all"), "/nowhere/at/all"),
        (
            ("--set", "agent.model=nan"),
            "unknown language model 'nan'. Did you mean nano",
        ),
        (
            ("--set", "agent.model=nano:x"),
            "model.source: wanted 'auxiliary', 'plain' or 'turns', got 'x'",
        ),
        (
            ("--agent", "random"),
            "cogmap needs an agent whose language model gives activations; agent 'random'",
        ),
        (
            ("--set", "agent.model=openai:http://127.0.0.1:9/v1"),
            "cogmap needs an agent whose language model",
        ),
    ],
)
def test_what_cannot_work_is_refused_in_one_line(
    arguments: tuple[str, ...],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """In this process, which has loaded torch already."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        sys,
        "argv",
        ["gde", *(PROBED if "--agent" in arguments else MAIN_JOB), *arguments],
    )
    with pytest.raises(SystemExit) as ended:
        main()
    said = capfd.readouterr()
    assert is_refusal(ended.value.code, said.out, said.err, message)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.extended
def test_so_is_what_is_found_out_once_torch_is_loaded(tmp_path: Path) -> None:
    done = gde(*MAIN_JOB, "--set", "cogmap.layer=99", cwd=tmp_path)
    assert is_refusal(
        done.returncode, done.stdout, done.stderr, "model 'nano' has layers 0 to 5"
    )
    assert list(tmp_path.iterdir()) == []


def is_refusal(code: object, out: str, err: str, message: str) -> bool:
    (line,) = err.strip().splitlines()
    return (code, out) == (2, "") and message in line


def test_embedding_needs_no_command_line(tmp_path: Path) -> None:
    plan = Plan(
        environment=Choice(name="grid"), agent=Choice(name="gpt-oss"), episodes=2
    )
    assert evaluate(plan, tmp_path / "run").status == "ok"
