"""Environments as tasks of Inspect, with its own mock model; numbers are those of a run
of gde.
"""

import gzip
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from gde import Choice, Plan, evaluate, load_evidence
from gde.errors import GdeError
from gde.request.catalogue import Catalogue
from gde.request.resolve import resolve

pytest.importorskip("inspect_ai", reason="`nox -s bridges` installs it")
pytestmark = pytest.mark.filterwarnings("default")

RANKS = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
"""Of the tokenizer that Inspect counts a mock model's tokens with, as tiktoken names
the copy that it keeps.
"""
WORLDS = 4
UP = '{"action": "UP"}'


@pytest.fixture(autouse=True)
def _offline(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = find_spec("bpe_openai")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("needs the ranks of bpe-openai, since Inspect counts tokens")
    packed = (
        Path(spec.submodule_search_locations[0]) / "data" / "o200k_base.tiktoken.gz"
    )
    folder = tmp_path_factory.mktemp("ranks")
    (folder / hashlib.sha1(RANKS.encode()).hexdigest()).write_bytes(
        gzip.decompress(packed.read_bytes())
    )
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
    monkeypatch.setenv("INSPECT_DISPLAY", "none")


def evaluated(task: Any, folder: Path, answer: str = UP) -> Any:
    from inspect_ai import eval as inspect_eval
    from inspect_ai.model import ModelOutput, get_model

    outputs: Iterator[Any] = (
        ModelOutput.from_content("mockllm/model", answer) for _ in range(10_000)
    )
    model = get_model("mockllm/model", custom_outputs=outputs)
    (log,) = inspect_eval(task, model=model, log_dir=str(folder), display="none")
    assert log.status == "success", log.error
    return log


def numbers(log: Any) -> dict[str, float]:
    return {
        name: each.value
        for score in log.results.scores
        for name, each in score.metrics.items()
    }


def test_every_environment_is_a_task() -> None:
    from gde_plugins.exchange.inspect import TASKS

    assert set(Catalogue.default().names("environment")) == TASKS.keys()


def test_the_numbers_are_those_of_a_run_of_the_same_answers(tmp_path: Path) -> None:
    from gde_plugins.exchange.inspect import make_task

    task = make_task(
        "grid",
        WORLDS,
        3,
        metrics=["success", "accuracy", "efficiency"],
        settings={"size": 5, "density": 0.0},
    )
    found = numbers(evaluated(task, tmp_path / "logs"))
    run = evaluate(
        Plan(
            environment=Choice(name="grid", config={"size": 5, "density": 0.0}),
            agent=Choice(name="up", part=AlwaysUp),
            metrics=["success", "accuracy", "efficiency"],
            episodes=WORLDS,
            seed=3,
        ),
        tmp_path / "run",
    )
    ours = {
        each.name: each.value
        for each in run.measurements
        if each.value is not None and not each.where
    }
    assert len(ours) > 4
    assert ours == pytest.approx({name: found[name] for name in ours})
    assert len({one.world.id for one in load_evidence(run.run).trajectories}) > 1


class AlwaysUp:
    def begin(self, brief: Any) -> None: ...

    async def act(self, observation: Any) -> Any:
        from gde import Decision

        return Decision.act("UP")


def test_where_nothing_is_named_the_default_agent_is_asked_and_the_usual_is_measured(
    tmp_path: Path,
) -> None:
    from gde_plugins.exchange.inspect import make_task

    log = evaluated(make_task("blocksworld", 1), tmp_path)
    run = Plan(environment="blocksworld", agent="gpt-oss", episodes=1)
    usual = {each.name for each in resolve(run, Catalogue.default()).plan.metrics}
    assert log.eval.metadata["gde"]["agent"] == "gpt-oss"
    assert {"success", "accuracy"} <= usual
    assert "accuracy" in numbers(log)


def test_without_one_default_agent_one_must_be_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from gde_plugins.exchange.inspect import make_task

    monkeypatch.setenv("GDE_DISABLE_PLUGINS", "text_agent")
    with pytest.raises(
        GdeError,
        match="wanted one default agent for environment 'grid', got none; say -T agent=NAME",
    ):
        make_task("grid", 1)


def test_an_answer_that_cannot_be_used_is_a_turn_and_no_error(tmp_path: Path) -> None:
    from gde_plugins.exchange.inspect import make_task

    log = evaluated(make_task("grid", 1, settings={"size": 5}), tmp_path, "no idea")
    (sample,) = log.samples
    assert sample.error is None
    assert set(sample.scores["numbers"].answer.split()) == {"unparsable"}
    assert numbers(log)["success"] == 0


def test_the_answers_of_the_model_are_kept_with_their_prompts(tmp_path: Path) -> None:
    from gde.runs.plain import read_trajectory
    from gde_plugins.exchange.inspect import make_task
    from gde_plugins.exchange.inspect_episodes import RECORD

    (sample,) = evaluated(make_task("grid", 1, settings={"size": 5}), tmp_path).samples
    turns = read_trajectory(sample.metadata[RECORD]).turns
    assert {
        turn.decision.completion.text for turn in turns if turn.decision.completion
    } == {UP}
    assert [each.role for each in sample.messages[-2:]] == ["user", "assistant"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"environment": "gird"}, "unknown environment 'gird'. Did you mean grid"),
        ({"environment": "grid", "settings": {"size": 4}}, "size"),
        ({"environment": "grid", "settings": {"agent.colour": 1}}, "colour"),
        (
            {"environment": "grid", "metrics": "sucess"},
            "unknown metric 'sucess'. Did you mean success",
        ),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_played(
    arguments: dict[str, Any], message: str
) -> None:
    from gde_plugins.exchange.inspect import make_task

    with pytest.raises(GdeError, match=message):
        make_task(**arguments)


def test_the_command_line_of_inspect_knows_the_tasks(tmp_path: Path) -> None:
    command = [
        str(Path(sys.executable).with_name("inspect")),
        "eval",
        "gde/grid",
        "--model",
        "mockllm/model",
    ]
    settings = [
        "-T",
        "worlds=2",
        "-T",
        "size=5",
        "-T",
        "metrics=success,accuracy",
        "--log-dir",
        str(tmp_path),
    ]
    done = subprocess.run(
        [*command, *settings, "--display", "plain"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ},
    )
    assert done.returncode == 0, done.stderr + done.stdout
    assert "accuracy" in done.stdout
    assert [*tmp_path.glob("*.eval")]
