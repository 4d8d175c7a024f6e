"""The study: every printed row has a line, with our number or with the reason why there
is none.
"""

import json
from pathlib import Path
from shutil import copytree

import pytest
from typer.testing import CliRunner

from gde import Choice, GdeError
from gde.cli.main import build_app
from gde.studies.reproducing import Request, foresee, reproduce
from gde.testing.context import PlainContext
from gde_plugins.reward_prediction.building import Order, build_domain
from gde_plugins.reward_prediction.config import Recipe, RewardBenchConfig, StudyConfig
from gde_plugins.reward_prediction.domains import find_domain
from gde_plugins.reward_prediction.environment import RewardBench
from gde_plugins.reward_prediction.published import ABLATIONS, TABLE_1
from gde_plugins.reward_prediction.study import RewardPredictionStudy

NAME = "rewardbench"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three tasks of the blocks world."""
    from gde.executors.serial import Serial

    folder = tmp_path_factory.mktemp("data")
    domain = find_domain("blocksworld")
    order = Order(
        domain=domain,
        recipe=Recipe(),
        n_tasks=3,
        settings={},
        folder=folder / "blocksworld",
    )
    build_domain(order, Serial(), lambda *_: None)
    return folder


def test_every_printed_row_has_a_line_and_what_is_missing_says_why(
    data: Path, tmp_path: Path
) -> None:
    named = Choice(name="statefactory", alias="mine", config={"level": 2})
    request = Request(name=NAME, settings={"data": str(data)}, rewards=(named,))
    found = reproduce(request, tmp_path / "study")
    assert found.status == "ok"
    rows = {row.quantity: row for row in found.rows}
    assert len({(row.table, row.quantity) for row in found.rows}) == len(found.rows)
    for row in (*TABLE_1.values(), *ABLATIONS.values()):
        (line,) = (
            each
            for name, each in rows.items()
            if name.startswith(row.title) and name.endswith(", BlocksWorld")
        )
        assert line.paper == row.values["blocksworld"]
        assert (
            line.ours.value is not None
            or "this reward model was not in the run" in line.ours.reason
        )
    factory = rows["StateFactory, gpt-oss-20b, BlocksWorld"].ours
    assert factory.value is not None and factory.n == 3
    assert "read by rules" in rows["StateFactory, gpt-oss-20b, BlocksWorld"].differs
    assert not rows["monotonic, BlocksWorld"].differs
    assert rows["level 4, attributes, BlocksWorld"].ours.value == factory.value
    assert rows["mine, BlocksWorld"].ours.value is not None
    assert all(
        rows[f"{each}, BlocksWorld"].ours.n == 3
        for each in ("monotonic", "clock", "goal-clock", "unrepeated", "constant")
    )
    assert rows["gpt-oss-20b, effort medium, BlocksWorld"].ours.value is None
    assert "no TASK/positive.json in" in rows["monotonic, AlfWorld"].ours.reason
    # What is finished is kept.
    before = (tmp_path / "study" / NAME / "run.sqlite").stat().st_mtime_ns
    assert reproduce(request, tmp_path / "study").rows == found.rows
    assert (tmp_path / "study" / NAME / "run.sqlite").stat().st_mtime_ns == before


def test_what_would_be_asked_is_told_before_anything_is(data: Path) -> None:
    settings = {"data": str(data), "model": "openai:http://nowhere"}
    found = {
        (one.plan, one.part): one
        for one in foresee(Request(name=NAME, settings=settings))
    }
    steps = sum(
        len(json.loads(file.read_text())["trajectory"])
        for file in data.rglob("*tive*.json")
    )
    assert found[NAME, "judge"].calls == steps
    assert found[NAME, "statefactory"].calls == 3 * steps
    # An extraction is asked for once, whatever reads it.
    assert found[NAME, "goal-oracle"].calls == 0
    assert found[NAME, "goal-oracle"].note == "reads what statefactory extracts"
    assert found[NAME, "level-2"].calls == found[NAME, "level-3"].calls == 3 * steps
    assert (NAME, "level-1") not in found
    # A judge without a memory is shown all that was before.
    first, second = found[NAME, "judge"], found[NAME, "judge-memory"]
    assert first.prompt_tokens is not None and second.prompt_tokens is not None
    assert first.prompt_tokens > second.prompt_tokens > 0
    assert first.answer_tokens == steps * 2048


def test_a_scale_takes_whole_tasks_of_the_data(data: Path, tmp_path: Path) -> None:
    settings = {"data": str(data), "ablations": False}
    found = reproduce(
        Request(name=NAME, settings=settings, scale=0.5), tmp_path / "study"
    )
    rows = {row.quantity: row.ours for row in found.rows}
    assert (
        rows["monotonic, BlocksWorld"].n == 2
        and rows["monotonic, BlocksWorld"].value is not None
    )
    files = [
        file
        for task in range(2)
        for file in data.rglob(f"blocksworld-000{task}/*.json")
    ]
    steps = sum(len(json.loads(file.read_text())["trajectory"]) for file in files)
    (told, *_) = foresee(
        Request(name=NAME, settings={**settings, "model": "hf:m"}, scale=0.5)
    )
    assert (told.episodes, told.calls) == (4, 3 * steps)


def test_domains_of_differing_size_are_asked_about_as_often_as_they_are_played(
    data: Path, tmp_path: Path
) -> None:
    for i, name in enumerate(("blocksworld", "webshop")):  # three tasks and one
        for task in [*(data / "blocksworld").glob("*-*")][i * 2 :]:
            copytree(task, tmp_path / name / task.name)
    settings = {"data": str(tmp_path), "model": "hf:m", "ablations": False}
    found = {one.part: one for one in foresee(Request(name=NAME, settings=settings))}
    played = [
        world
        for name in ("blocksworld", "webshop")
        for world in RewardBench(RewardBenchConfig(domain=name, data=tmp_path)).worlds()
    ]
    steps = sum(
        len(json.loads(file.read_text())["trajectory"])
        for file in tmp_path.rglob("*.json")
    )
    assert len(played) == 8
    assert {one.episodes for one in found.values()} == {8}
    assert found["judge"].calls == steps


def test_domains_that_are_made_count_their_own_pairs() -> None:
    settings = {
        "model": "hf:m",
        "ablations": False,
    }  # the shop has 300 pairs, the blocks world 250
    assert {one.episodes for one in foresee(Request(name=NAME, settings=settings))} == {
        2 * (300 + 250)
    }
    assert {
        one.episodes
        for one in foresee(Request(name=NAME, settings=settings, scale=0.01))
    } == {2 * (3 + 3)}


def test_no_trajectory_is_made_to_count_what_the_study_knows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def reset(*_: object) -> None:
        raise AssertionError("a simulator takes minutes to make one")

    monkeypatch.setattr(RewardBench, "reset", reset)
    found = foresee(Request(name=NAME, settings={"model": "hf:m"}))
    assert {one.plan for one in found} == {NAME}
    with pytest.raises(GdeError, match="unknown reward model 'nope'"):
        foresee(
            Request(
                name=NAME, settings={"model": "hf:m"}, rewards=(Choice(name="nope"),)
            )
        )


def test_without_data_only_what_needs_no_simulator_is_made_unless_it_is_named() -> None:
    study = RewardPredictionStudy(StudyConfig(), PlainContext())
    plan = study.plans(0.01, Choice(name="random"))[NAME]
    assert plan.environment.config["domain"] == ["webshop", "blocksworld"]
    (none,) = {one.calls for one in foresee(Request(name=NAME, scale=0.01))}
    assert none == 0
    (unknown, *_) = foresee(
        Request(name=NAME, scale=0.01, settings={"model": "hf:m", "ablations": False})
    )
    assert unknown.calls is not None and unknown.calls > 0
    with pytest.raises(
        GdeError, match=r"\.model: wanted a model that can be asked anything"
    ):
        foresee(
            Request(
                name=NAME, scale=0.01, settings={"model": "nano", "ablations": False}
            )
        )
    assert {
        *RewardPredictionStudy(StudyConfig(ablations=False), PlainContext()).plans(
            1.0, Choice(name="random")
        )
    } == {NAME}


def test_the_command_tells_and_stops(data: Path, tmp_path: Path) -> None:
    words = [
        NAME,
        "--set",
        f"study.data={data}",
        "--reward",
        "judge",
        "--set",
        "judge.model=hf:judge",
        "--dry-run",
        "--json",
    ]
    told = CliRunner().invoke(
        build_app(), ["reproduce", *words, "--out", str(tmp_path / "none")]
    )
    assert told.exit_code == 0, told.output
    parts = [each["part"] for each in json.loads(told.stdout)["estimates"]]
    assert "judge" in parts and not (tmp_path / "none").exists()
    refused = CliRunner().invoke(
        build_app(), ["reproduce", NAME, "--set", "judge.model=nano", "--dry-run"]
    )
    assert isinstance(refused.exception, GdeError) or refused.exit_code == 2
