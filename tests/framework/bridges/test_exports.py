"""What is written for other tools is what their packages read."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from gde import Choice, Plan, evaluate, load_evidence, turns_frame
from gde.bridges.exports import FILE_FORMS, export_file
from gde.errors import GdeError, MissingExtra
from gde.request.catalogue import Catalogue, load_plugins
from gde.runs.exporting import export
from gde.runs.plain import read_trajectory

EPISODES = 6


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exports") / "run"
    catalogue = Catalogue(load_plugins(modules=("gde.testing.plugin",)))
    corridor = Choice(name="corridor", config={"length": 5})
    evaluate(
        Plan(
            environment=corridor,
            agent="asking",
            metrics=["success"],
            reporters=[],
            episodes=EPISODES,
        ),
        folder,
        catalogue,
    )
    return folder


def lines(run: Path, form: Any) -> list[dict[str, Any]]:
    text = StringIO()
    n = export(run, form, text)
    found = [json.loads(line) for line in text.getvalue().splitlines()]
    assert len(found) == n
    return found


def test_jsonl_gives_the_trajectories_back(run: Path) -> None:
    assert [*map(read_trajectory, lines(run, "jsonl"))] == [
        *load_evidence(run).trajectories
    ]


@pytest.mark.parametrize(
    "broken",
    [{}, {"key": 3}, {"seed": 1, "labels": {}, "horizon": 1, "ending": "horizon"}],
)
def test_what_is_no_trajectory_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(
        GdeError, match="wanted a trajectory as `gde export --format jsonl` writes it"
    ):
        read_trajectory(broken)


def test_a_conversation_has_what_was_shown_and_said(run: Path) -> None:
    for told, trajectory in zip(
        lines(run, "chat"), load_evidence(run).trajectories, strict=True
    ):
        assert [each["role"] for each in told["messages"]] == [
            "user",
            "assistant",
        ] * len(trajectory.turns)
        assert [each["content"] for each in told["messages"][::2]] == [
            t.observation.text for t in trajectory.turns
        ]
        assert {each["content"] for each in told["messages"][1::2]} == {"RIGHT"}


def test_parquet_holds_the_frame_of_turns(run: Path, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="needs the extra frames")
    pytest.importorskip("pyarrow", reason="needs the extra parquet")
    n = export_file(run, "parquet", tmp_path / "turns.parquet")
    read, frame = pandas.read_parquet(tmp_path / "turns.parquet"), turns_frame(run)
    assert (len(read), [*read.columns]) == (n, [*frame.columns])
    assert read.reward.tolist() == frame.reward.tolist()


def test_datasets_reads_the_turns(run: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="needs the extra datasets")
    export_file(run, "datasets", tmp_path / "turns")
    assert (
        datasets.load_from_disk(str(tmp_path / "turns"))["action"]
        == turns_frame(run).action.tolist()
    )


def test_transitions_are_steps_between_rows_of_the_process(
    run: Path, tmp_path: Path
) -> None:
    datasets = pytest.importorskip("datasets", reason="needs the extra datasets")
    assert export_file(run, "transitions", tmp_path / "steps") == EPISODES
    table = datasets.load_from_disk(str(tmp_path / "steps"))
    assert table.info.description == "acts: LEFT, RIGHT"
    for row in table:
        assert (
            len(row["obs"])
            == len(row["acts"]) + 1
            == len(row["rews"]) + 1
            == len(row["infos"]) + 1
        )
        steps = zip(row["obs"], row["acts"], row["obs"][1:], strict=False)
        assert all(after == before + (2 * act - 1) for before, act, after in steps)
        assert (row["terminal"], row["obs"][-1], row["rews"][-1]) == (True, 4, 1.0)


def test_a_world_without_a_process_has_no_transitions(tmp_path: Path) -> None:
    pytest.importorskip("datasets", reason="needs the extra datasets")
    catalogue = Catalogue(load_plugins(modules=("gde.testing.plugin",)))
    plan = Plan(
        environment="recipe",
        agent="expert",
        metrics=["scores"],
        reporters=[],
        episodes=2,
    )
    evaluate(plan, tmp_path / "run", catalogue)
    with pytest.raises(GdeError, match="whose states are rows of a decision process"):
        export_file(tmp_path / "run", "transitions", tmp_path / "steps")


@pytest.mark.parametrize("form", FILE_FORMS)
def test_nothing_is_written_over(form: Any, run: Path, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("mine")
    with pytest.raises(GdeError, match="there: File exists"):
        export_file(run, form, tmp_path / "there")
    assert (tmp_path / "there").read_text() == "mine"


def test_a_folder_that_is_not_there_is_named(run: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="needs the extra parquet")
    with pytest.raises(GdeError, match=r"nowhere/turns\.parquet: "):
        export_file(run, "parquet", tmp_path / "nowhere" / "turns.parquet")


def test_a_package_that_is_missing_is_named_with_its_extra(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    for module, form, extra in (
        ("datasets", "datasets", "datasets"),
        ("inspect_ai.log", "inspect", "inspect"),
    ):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(MissingExtra, match=rf"gde-eval\[{extra}\]"):
            export_file(run, form, tmp_path / "out")  # type: ignore[arg-type]
