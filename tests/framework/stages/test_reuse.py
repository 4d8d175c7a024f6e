"""What was answered in an earlier run is not asked again, and only where it has one
answer.
"""

import sqlite3
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from gde import (
    ChatRequest,
    Completion,
    Context,
    Decision,
    GdeError,
    How,
    Message,
    ModelInfo,
    NoConfig,
    Observation,
    Offer,
    Plan,
    Sampling,
    evaluate,
    load_evidence,
)
from gde.reporting.terminal.screen import screen
from gde.request.catalogue import Catalogue
from gde.stages.reuse import Reuse
from gde.store.answers import Answers
from gde.testing.parts import AskingAgent, PlantedModel

ANSWER = Completion(
    text="\u00e9",
    reasoning=None,
    finish="length",
    prompt_tokens=(1, 2),
    tokens=(3,),
    positions={"pre": (0, 1)},
    n_prompt=2,
    n_completion=None,
    answered_by="m",
)
GREEDY = Sampling(temperature=0.0)
REQUEST = ChatRequest(
    messages=(Message(role="user", content="where?"),), seed=1, sampling=GREEDY
)


def test_an_answer_comes_back_as_it_was(tmp_path: Path) -> None:
    with (
        closing(Answers.open(tmp_path / "a")) as first,
        closing(Answers.open(tmp_path / "a")) as second,
    ):
        assert second.get("k") is None
        first.put("k", replace(ANSWER, request="r", model="m"))
        assert second.get("k") == ANSWER


def test_whatever_can_change_an_answer_changes_its_key(tmp_path: Path) -> None:
    reuse, model = Reuse(tmp_path / "a"), PlantedModel()
    changes = (
        replace(REQUEST, seed=2),
        replace(REQUEST, effort="high"),
        replace(REQUEST, messages=(Message(role="system", content="where?"),)),
        replace(REQUEST, sampling=replace(GREEDY, max_tokens=1)),
        replace(REQUEST, sampling=replace(GREEDY, top_p=0.5)),
    )
    keys = [reuse.key(model, {"a": 1}, each) for each in (REQUEST, *changes)]
    keys += [reuse.key(model, {"a": 2}, REQUEST), reuse.key(Other(), {"a": 1}, REQUEST)]
    assert len({*keys}) == len(keys) and all(keys)
    assert reuse.key(model, {"a": 1}, REQUEST) == keys[0]


class Other(PlantedModel):
    """Another version of the model."""

    @property
    def info(self) -> ModelInfo:
        return replace(super().info, versions={"weights": "2"})


def test_a_sample_is_never_looked_up(tmp_path: Path) -> None:
    sampled = replace(REQUEST, sampling=Sampling(temperature=0.1))
    assert (
        Reuse(tmp_path / "a").key(PlantedModel(), {}, sampled)
        == ""
        == Reuse().key(PlantedModel(), {}, REQUEST)
    )
    assert not (tmp_path / "a").exists()


def test_a_damaged_answer_is_none_and_is_replaced(tmp_path: Path) -> None:
    with closing(Answers.open(tmp_path / "a")) as answers:
        answers.put("k", ANSWER)
        with closing(sqlite3.connect(tmp_path / "a", isolation_level=None)) as other:
            other.execute(
                """UPDATE answers SET answer = replace(answer, 'length', 'stop')"""
            )
        assert answers.get("k") is None
        answers.put("k", ANSWER)
        assert answers.get("k") == ANSWER


def test_another_file_is_refused_and_left_alone(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    (tmp_path / "text").write_text("no database, and long enough to be read as one")
    with closing(sqlite3.connect(tmp_path / "other")) as other:
        other.execute("CREATE TABLE mine (x)")
    for name in ("text", "other", "absent/file"):
        before = (tmp_path / name).read_bytes() if (tmp_path / name).exists() else b""
        plan = Plan(environment="corridor", agent="scripted", episodes=2)
        how = How(cache=str(tmp_path / name))
        with pytest.raises(GdeError, match=r"run\.cache=.*: wanted a file of answers"):
            evaluate(plan, tmp_path / "run", catalogue, how=how)
        assert not (tmp_path / "run").exists()
        assert before == ((tmp_path / name).read_bytes() if before else b"")


@dataclass
class Asking(AskingAgent):
    """Asks at a temperature."""

    temperature: float = 0.0

    async def act(self, observation: Observation) -> Decision:
        message, sampling = (
            Message(role="user", content=observation.text),
            Sampling(temperature=self.temperature),
        )
        answer = await self.model.complete(
            ChatRequest(messages=(message,), seed=self._seed, sampling=sampling)
        )
        return Decision.act(answer.text, answer)


def at(temperature: float, log: Path) -> Offer[Any, Any]:
    """An agent that asks a model which notes what it is asked."""

    def make(_: NoConfig, context: Context) -> Asking:
        return Asking(context.model(f"noted:{log}"), temperature=temperature)

    return Offer(name="asking-at", summary="s", config=NoConfig, make=make)


def test_a_second_run_asks_nothing_and_says_so(
    tmp_path: Path, asking: Catalogue
) -> None:
    log = tmp_path / "log"
    cache = str(tmp_path / "answers")
    plan = Plan(
        environment="corridor",
        agent=at(0.0, log),
        metrics=("success",),
        episodes=4,
    )
    how = How(cache=cache)
    first = evaluate(plan, tmp_path / "first", asking, how=how)
    n = len(log.read_text().splitlines())
    second = evaluate(plan, tmp_path / "second", asking, how=replace(how, max_calls=1))
    assert first.plan_hash == second.plan_hash
    assert len(log.read_text().splitlines()) == n > 0
    assert first.measurements == second.measurements
    assert first.provenance["cache"]["hits"] == 0  # type: ignore[index, call-overload]
    assert (
        second.provenance["cache"]["hits"] == second.provenance["cache"]["answers"] == n
    )  # type: ignore[index, call-overload]
    assert f"{n} of {n} answers come from earlier runs" in " ".join(
        screen(second).notes
    )
    ours, theirs = (
        [
            turn.decision.completion
            for each in load_evidence(tmp_path / name).trajectories
            for turn in each.turns
        ]
        for name in ("first", "second")
    )
    assert all(each and each.cached for each in theirs)
    assert ours == [each and replace(each, cached=False) for each in theirs]


def test_samples_are_asked(tmp_path: Path, asking: Catalogue) -> None:
    log, answers = tmp_path / "log", tmp_path / "answers"
    plan = Plan(
        environment="corridor",
        agent=at(0.5, log),
        metrics=("success",),
        episodes=3,
    )
    how = How(cache=str(answers))
    evaluate(plan, tmp_path / "first", asking, how=how)
    n = len(log.read_text().splitlines())
    again = evaluate(plan, tmp_path / "second", asking, how=how)
    assert len(log.read_text().splitlines()) == 2 * n
    assert again.provenance["cache"]["hits"] == 0  # type: ignore[index, call-overload]
