"""Logs of others become runs that can be compared; runs become logs that Inspect
reads.
"""

from pathlib import Path
from typing import Any

import pytest

from gde import Choice, Plan, evaluate, load_evidence
from gde.comparisons.comparing import compare
from gde.data.result import Result
from gde.errors import GdeError
from gde.request.catalogue import Catalogue, load_plugins
from gde.runs.plain import read_trajectory
from gde_plugins.exchange.importing import Log, Sample, import_log

CATALOGUE = Catalogue(load_plugins(modules=("gde.testing.plugin",)))
RIGHT = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0)
WRONG = (0.0,) * 9 + (1.0,)


def log(model: str, values: tuple[float, ...]) -> Log:
    samples = (
        Sample(id=str(i), asked="2 + 2?", answer="4", scores={"acc": v})
        for i, v in enumerate(values)
    )
    return Log(task="sums", model=model, samples=tuple(samples))


def test_two_logs_are_compared_question_by_question(tmp_path: Path) -> None:
    for name, values in (("good", RIGHT), ("bad", WRONG)):
        assert import_log(log(f"some/{name}", values), tmp_path / name).status == "ok"
    found = compare(tmp_path / "bad", tmp_path / "good")
    (row,) = found.rows
    assert (row.name, row.title, row.n, row.a, row.b) == (
        "scores.acc",
        "Logged score: acc",
        10,
        0.1,
        0.9,
    )
    assert row.p is not None and row.p < 0.05
    assert [side.subject.agent for side in found.runs] == ["some/bad", "some/good"]


def test_failures_and_silence_are_kept(tmp_path: Path) -> None:
    samples = (
        Sample(id="a", answer="4", scores={"acc": 1.0, "length": 12.0}),
        Sample(id="a", epoch=1, answer="", scores={"acc": 0.0, "length": 0.0}),
        Sample(id="b", failure="the server was gone"),
    )
    result = import_log(Log(task="sums", model="m", samples=samples), tmp_path / "run")
    assert result.status == "partial"
    assert [each.reason for each in result.failures] == ["the server was gone"]
    assert {each.name: each.value for each in result.measurements} == {
        "scores.acc": 0.5,
        "scores.length": 6.0,
    }
    first, second, failed = load_evidence(tmp_path / "run").trajectories
    assert (first.success, second.success, failed.ending) == (1.0, 0.0, "failed")
    assert second.turns[0].decision.status == "empty"


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ((), "wanted samples, got none"),
        (
            (Sample(id="a"), Sample(id="a")),
            "wanted a sample once an epoch, got a in epoch 0 again",
        ),
        (
            (Sample(id="a", scores={"acc": float("nan")}),),
            "wanted finite scores, sample a has others",
        ),
    ],
)
def test_what_is_no_log_is_refused(
    samples: tuple[Sample, ...], message: str, tmp_path: Path
) -> None:
    with pytest.raises(GdeError, match=message):
        import_log(Log(task="sums", model="m", samples=samples), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_run_goes_to_inspect_and_comes_back(tmp_path: Path) -> None:
    inspect_log = pytest.importorskip(
        "inspect_ai.log", reason="`nox -s bridges` installs it"
    )
    from gde_plugins.exchange.exports import export_file
    from gde_plugins.exchange.inspect_logs import RECORD, read_inspect

    import_log(log("some/model", RIGHT), tmp_path / "run")
    assert export_file(tmp_path / "run", "inspect", tmp_path / "run.eval") == len(RIGHT)
    read = inspect_log.read_eval_log(str(tmp_path / "run.eval"))
    kept = [read_trajectory(each.metadata[RECORD]) for each in read.samples]
    assert kept == [*load_evidence(tmp_path / "run").trajectories]
    assert read.results.scores[0].metrics["scores.acc"].value == 0.9
    again = import_log(read_inspect(tmp_path / "run.eval"), tmp_path / "again")
    assert again.measurements[0].value == 0.9
    (tmp_path / "damaged.eval").write_bytes(b"nothing")
    with pytest.raises(GdeError, match=r"damaged.eval: wanted a log of Inspect"):
        read_inspect(tmp_path / "damaged.eval")


def test_a_log_has_every_turn_s_call_and_comes_back_as_any_other(
    tmp_path: Path,
) -> None:
    inspect_log = pytest.importorskip(
        "inspect_ai.log", reason="`nox -s bridges` installs it"
    )
    from gde_plugins.exchange.exports import export_file
    from gde_plugins.exchange.inspect_logs import read_inspect

    run = asked(tmp_path / "run")
    first = load_evidence(run.run, CATALOGUE)
    for ending in ("eval", "json"):
        out = tmp_path / f"run.{ending}"
        export_file(tmp_path / "run", "inspect", out)
        again = import_log(read_inspect(out), tmp_path / ending, CATALOGUE)
        (success,) = again.measurements
        (before,) = (
            one for one in run.measurements if one.name == "success" and not one.where
        )
        assert (success.name, success.value) == ("scores.success", before.value)

    log = inspect_log.read_eval_log(str(tmp_path / "run.eval"))
    turn = first.trajectories[0].turns[0].decision.completion
    assert turn is not None
    key = str(first.trajectories[0].key)
    (sample,) = (one for one in log.samples if one.metadata["gde"]["episode"] == key)
    event = sample.events[0]
    assert [message.text for message in event.input] == [turn.prompt[0].content]
    reasoning, text = event.output.choices[0].message.content
    assert (reasoning.reasoning, text.text) == (turn.reasoning, turn.text)


def asked(folder: Path) -> Result:
    """A run of a model that answers in a corridor, with a repeat and a notice."""
    plan = Plan(
        environment=Choice(name="corridor", config={"length": [4, 5]}),
        agent="asking",
        metrics=["success", "accuracy"],
        episodes=2,
        repeats=2,
    )
    return evaluate(plan, folder, CATALOGUE)


def test_what_inspect_itself_has_scored_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inspect_log = pytest.importorskip(
        "inspect_ai.log", reason="`nox -s bridges` installs it"
    )
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import Score

    from gde_plugins.exchange.inspect_logs import read_inspect

    def made(number: int, value: Any) -> Any:
        output = ModelOutput.from_content("mockllm/model", "four")
        scores = {"match": Score(value=value)}
        return inspect_log.EvalSample(
            id=number, epoch=1, input="2 + 2?", target="4", output=output, scores=scores
        )

    spec = inspect_log.EvalSpec(
        created="2026-11-22T00:00:00+00:00",
        task="sums",
        dataset=inspect_log.EvalDataset(),
        model="mockllm/model",
        config=inspect_log.EvalConfig(),
    )
    values = ["C", "I", 0.25, {"a": 1, "b": "P"}, "prose"]
    samples = [made(number, value) for number, value in enumerate(values)]
    inspect_log.write_eval_log(
        inspect_log.EvalLog(eval=spec, samples=samples), str(tmp_path / "log.json")
    )
    read = read_inspect(tmp_path / "log.json")
    expected = [
        {"match": 1.0},
        {"match": 0.0},
        {"match": 0.25},
        {"match.a": 1.0, "match.b": 0.5},
        {},
    ]
    assert [each.scores for each in read.samples] == expected
    assert [each.failure for each in read.samples] == [
        "",
        "",
        "",
        "",
        "it was not scored",
    ]
