"""What `gde trust` finds in a folder and says of a plan."""

from pathlib import Path

import pytest

from gde import Choice, Plan, evaluate
from gde.errors import GdeError, RunFolderError
from gde.request.catalogue import Catalogue
from gde.request.resolve import resolve
from gde.runs.trusting import disclose, runs_in
from gde.store.folder import RunFolder


def made(plan: Plan, folder: Path) -> Path:
    ready = resolve(plan, Catalogue.default())
    RunFolder.create(ready.plan, folder, ready.how)
    return folder


def test_runs_are_found_in_what_holds_them(tmp_path: Path) -> None:
    plan = Plan(environment="grid", agent="random")
    a, b = (made(plan, tmp_path / "several" / name) for name in "ab")
    assert runs_in(a) == [a]
    assert runs_in(tmp_path / "several") == [a, b]
    # A contest has a plan of its own.
    (tmp_path / "several" / "plan.toml").write_bytes((a / "plan.toml").read_bytes())
    assert runs_in(tmp_path / "several") == [tmp_path / "several"]
    (tmp_path / "several" / "contest.toml").write_text("{}")
    assert runs_in(tmp_path / "several") == [a, b]
    with pytest.raises(RunFolderError):
        runs_in(tmp_path / "nothing")


def test_a_link_to_a_run_is_not_trusted_with_its_folder(tmp_path: Path) -> None:
    run = made(Plan(environment="grid", agent="random"), tmp_path / "run")
    (tmp_path / "several").mkdir()
    (tmp_path / "several" / "one").symlink_to(run)
    with pytest.raises(GdeError, match="one is a link: name the run that it leads to"):
        runs_in(tmp_path / "several")


def test_every_file_of_a_sweep_is_listed(tmp_path: Path) -> None:
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    grids = Choice(name="grid", config={"grids": [str(each) for each in files]})
    run = made(Plan(environment=grids, agent="random"), tmp_path / "run")
    lines = disclose(run).lines
    for file in files:
        assert f"grid.grids reads {file} (not there)" in lines


def test_settings_of_a_model_are_listed(tmp_path: Path) -> None:
    agent = Choice(name="gpt-oss", config={"model": "nano"})
    models = (Choice(name="nano", config={"dtype": "float32"}),)
    plan = Plan(environment="grid", agent=agent, models=models)
    lines = disclose(made(plan, tmp_path / "run")).lines
    assert "model nano has dtype=float32" in lines
    # Defaults say nothing.
    assert len([line for line in lines if line.startswith("model nano has")]) == 1


def test_programs_that_a_part_starts_are_said_of_it_alone(tmp_path: Path) -> None:
    pytest.importorskip("scienceworld", reason="needs the extra text-worlds")
    plan = Plan(environment="scienceworld", agent="random")
    environment, agent, *_ = disclose(made(plan, tmp_path / "run")).lines
    assert environment.endswith(", starts java")
    assert "starts" not in agent


def test_a_model_is_loaded_or_asked(tmp_path: Path) -> None:
    pytest.importorskip("openai", reason="needs the extra openai")
    for model, said in (
        ("nano", "model nano is loaded as nano"),
        (
            "openai:m@http://localhost:9/v1",
            "model openai:m is asked where you say: openai:m@URL",
        ),
    ):
        agent = Choice(name="gpt-oss", config={"model": model})
        folder = made(Plan(environment="grid", agent=agent), tmp_path / model[:4])
        assert said in disclose(folder).lines


def test_links_in_a_folder_that_is_read_stay_in_it(tmp_path: Path) -> None:
    weights = tmp_path / "weights"
    (weights / "blobs").mkdir(parents=True)
    (weights / "blobs" / "1").write_text("")
    (weights / "model").symlink_to(weights / "blobs" / "1")
    agent = Choice(name="gpt-oss", config={"model": f"hf:{weights}"})
    run = made(Plan(environment="grid", agent=agent), tmp_path / "run")
    assert any(line.endswith("(folder of 3 files)") for line in disclose(run).lines)

    (weights / "other").symlink_to(tmp_path)
    with pytest.raises(
        GdeError, match=f"other leads out of {weights}: remove the link"
    ):
        disclose(run)


def test_a_run_that_was_played_here_needs_no_trust(tmp_path: Path) -> None:
    plan = Plan(environment="grid", agent="random", episodes=1)
    evaluate(plan, tmp_path / "run")
    assert disclose(tmp_path / "run").trusted
