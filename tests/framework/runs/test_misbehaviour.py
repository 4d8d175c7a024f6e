"""Parts that misbehave in ways that no exception announces: named in the record, and
nobody else is harmed.
"""

import sys
from asyncio import CancelledError
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

from gde import (
    Brief,
    Choice,
    Decision,
    Evidence,
    GdeError,
    How,
    Measurement,
    Observation,
    Optimum,
    Outcome,
    Plan,
    State,
    TabularMDP,
    Task,
    World,
    evaluate,
    rescore,
    resume,
)
from gde.errors import RunFailed
from gde.request.catalogue import Catalogue
from gde.stages.failing import CHARACTERS
from gde.store.folder import RunFolder
from gde.testing.parts import Corridor, ScriptedAgent

PLAN = Plan(environment="corridor", agent="scripted", metrics=["success"], episodes=4)


class Leaving(ScriptedAgent):
    """Ends the process, as scripts do."""

    async def act(self, observation: Observation) -> Decision:
        sys.exit("bye")


class Quitting(Corridor):
    """Ends the process from within the world."""

    def step(self, action: str) -> Outcome:
        raise SystemExit(1)


class Odd(BaseException):
    """What none expects."""


@dataclass
class Raising(ScriptedAgent):
    """Raises what programs seldom raise, when it acts or when it begins."""

    what: BaseException | type[BaseException] = Odd
    early: bool = False

    def begin(self, brief: Brief) -> None:
        if self.early:
            raise self.what
        super().begin(brief)

    async def act(self, observation: Observation) -> Decision:
        raise self.what


@dataclass
class Breaking(Corridor):
    """Raises it when it is stepped."""

    what: BaseException | type[BaseException] = Odd

    def step(self, action: str) -> Outcome:
        raise self.what


def odd(evidence: Evidence) -> list[Measurement]:
    raise Odd("number")


@dataclass
class Certifying(Corridor):
    """Gives its own word on what is best."""

    word: Any = None

    def optimum(self) -> Optimum:
        return replace(Optimum(actions=("RIGHT",), value=-1.0), **self.word)


@dataclass
class Mistaken(Corridor):
    """Tells what cannot be so of its state, its process and its task."""

    index: Any = None
    names: tuple[str, ...] = ()
    horizon: Any = 10

    def state(self) -> State:
        return (
            super().state()
            if self.index is None
            else replace(super().state(), index=self.index)
        )

    def mdp(self) -> TabularMDP:
        return (
            replace(super().mdp(), actions=self.names) if self.names else super().mdp()
        )

    def task(self) -> Task:
        return replace(super().task(), horizon=self.horizon)


T = TypeVar("T", Observation, Task, World)


@dataclass
class Mistyped(Corridor):
    """Gives fields of other types than they are declared to have."""

    shown: Any = None
    asked: Any = None
    told: Any = None
    after: Any = None

    def reset(self, seed: int) -> Observation:
        return _changed(super().reset(seed), self.shown)

    def task(self) -> Task:
        return _changed(super().task(), self.asked)

    def world(self) -> World:
        return _changed(super().world(), self.told)

    def step(self, action: str) -> Outcome:
        outcome = super().step(action)
        return replace(outcome, observation=_changed(outcome.observation, self.after))


def _changed(value: T, change: Any) -> T:
    """The value with these fields; nothing at all for no fields."""
    return None if change == {} else replace(value, **(change or {}))  # type: ignore


@dataclass
class Unsure(ScriptedAgent):
    """Tells probabilities."""

    shares: Any = None

    async def act(self, observation: Observation) -> Decision:
        return replace(await super().act(observation), probabilities=self.shares)


class Unspeakable(Corridor):
    """Fails in words that no file can hold."""

    def step(self, action: str) -> Outcome:
        raise RuntimeError("half a character: \ud800")


class Halved(Corridor):
    """Shows what no file can hold."""

    def _observe(self) -> Observation:
        return replace(super()._observe(), text="half: \ud800")


class Clinging(Corridor):
    """Cannot be closed."""

    def close(self) -> None:
        raise RuntimeError("never")


@dataclass
class Paying(Corridor):
    """Pays in what is no number."""

    coin: object = 0.0

    def step(self, action: str) -> Outcome:
        return replace(super().step(action), reward=self.coin)  # type: ignore[arg-type]


def leaves(evidence: Evidence) -> list[Measurement]:
    sys.exit(7)


def failures(plan: Plan, folder: Path, catalogue: Catalogue) -> set[str]:
    result = evaluate(plan, folder, catalogue)
    assert result.status in ("failed", "partial")
    return {failure.reason for failure in result.failures}


@pytest.mark.parametrize(
    ("environment", "agent", "reason"),
    [
        ("corridor", lambda: Leaving(), "SystemExit: bye"),
        (lambda: Quitting(), "scripted", "SystemExit: 1"),
        ("corridor", lambda: Raising(what=Odd("fish")), "Odd: fish"),
        (
            "corridor",
            lambda: Raising(what=GeneratorExit("fish")),
            "GeneratorExit: fish",
        ),
        (
            "corridor",
            lambda: Raising(what=BaseExceptionGroup("fish", [Odd()])),
            "BaseExceptionGroup: fish",
        ),
        (
            "corridor",
            lambda: Raising(what=CancelledError("fish")),
            "CancelledError: fish",
        ),
        ("corridor", lambda: Raising(what=Odd("fish"), early=True), "Odd: fish"),
        (
            "corridor",
            lambda: Raising(what=CancelledError("fish"), early=True),
            "CancelledError: fish",
        ),
        (
            "corridor",
            lambda: Raising(what=GeneratorExit("fish"), early=True),
            "GeneratorExit: fish",
        ),
        (lambda: Breaking(what=Odd("fish")), "scripted", "Odd: fish"),
        (
            lambda: Breaking(what=GeneratorExit("fish")),
            "scripted",
            "GeneratorExit: fish",
        ),
        (
            lambda: Breaking(what=CancelledError("fish")),
            "scripted",
            "CancelledError: fish",
        ),
        (
            lambda: Breaking(what=StopIteration("fish")),
            "scripted",
            "StopIteration: fish",
        ),
        (
            lambda: Certifying(word={"actions": ("FLY",)}),
            "scripted",
            "some of LEFT, RIGHT, got 'FLY'",
        ),
        (
            lambda: Certifying(word={"actions": ()}),
            "scripted",
            "a return to be had, got none for -1.0",
        ),
        (
            lambda: Certifying(word={"value": float("nan")}),
            "scripted",
            "-inf or None, got nan",
        ),
        (lambda: Certifying(word={"value": "1"}), "scripted", "-inf or None, got '1'"),
        (
            lambda: Mistaken(index=-1),
            "scripted",
            "the index of a state of mdp(), of 3, got -1",
        ),
        (
            lambda: Mistaken(index=99),
            "scripted",
            "the index of a state of mdp(), of 3, got 99",
        ),
        (
            lambda: Mistaken(names=("A", "B")),
            "scripted",
            "actions of the task, LEFT, RIGHT, got A, B",
        ),
        (lambda: Mistyped(shown={}), "scripted", "reset must give an Observation"),
        (lambda: Mistyped(asked={}), "scripted", "task must give a Task, got None"),
        (lambda: Mistyped(told={}), "scripted", "world must give a World, got None"),
        (
            lambda: Mistyped(shown={"text": None}),
            "scripted",
            "reset must give a text that is str, got None",
        ),
        (
            lambda: Mistyped(shown={"actions": (0, 1)}),
            "scripted",
            "reset must give an action that is str, got 0",
        ),
        (
            lambda: Mistyped(shown={"actions": "LEFT"}),
            "scripted",
            "reset must give a tuple of actions, got 'LEFT'",
        ),
        (
            lambda: Mistyped(asked={"horizon": 8.5}),
            "scripted",
            "task must give a horizon that is int, got 8.5",
        ),
        (
            lambda: Mistyped(asked={"objective": None}),
            "scripted",
            "task must give an objective that is str, got None",
        ),
        (
            lambda: Mistyped(told={"id": None}),
            "scripted",
            "world().id: wanted text, got None",
        ),
        (
            lambda: Mistyped(told={"labels": {"k": None}}),
            "scripted",
            "world().labels: wanted text or a whole number",
        ),
        (
            lambda: Mistyped(told={"labels": {"k": np.int64(3)}}),
            "scripted",
            "the label 'k' must be made of text, finite numbers, lists and mappings",
        ),
        (
            lambda: Mistyped(told={"facts": {"ok": 1, "map": np.eye(2)}}),
            "scripted",
            "the fact 'map' must be made of text, finite numbers, lists and mappings",
        ),
        (
            lambda: Mistyped(after={"text": b"bytes"}),
            "scripted",
            "step must give a text that is str, got b'bytes'",
        ),
        (lambda: Mistaken(horizon=0), "scripted", "a horizon of 1 turn or more, got 0"),
        (
            lambda: Mistaken(horizon=-3),
            "scripted",
            "a horizon of 1 turn or more, got -3",
        ),
        (
            "corridor",
            lambda: Unsure(shares={"LEFT": 3.0}),
            "probabilities from 0 to 1, got 3.0 of 'LEFT'",
        ),
        ("corridor", lambda: Unsure(shares={"LEFT": -1.0}), "got -1.0 of 'LEFT'"),
        ("corridor", lambda: Unsure(shares={"LEFT": "1"}), "got '1' of 'LEFT'"),
        (
            "corridor",
            lambda: Unsure(shares={"FLY": 1.0}),
            "admissible actions, of LEFT, RIGHT, got 'FLY'",
        ),
        (lambda: Unspeakable(), "scripted", "RuntimeError: half a character: ?"),
        (lambda: Halved(), "scripted", "surrogates not allowed"),
        (lambda: Paying(coin=float("nan")), "scripted", "nan"),
        (lambda: Paying(coin=float("inf")), "scripted", "inf"),
        (lambda: Paying(coin="gold"), "scripted", "gold"),
        (lambda: Paying(coin=None), "scripted", "None"),
    ],
)
def test_an_episode_fails_and_says_why(
    environment: str | Callable[[], object],
    agent: str | Callable[[], object],
    reason: str,
    tmp_path: Path,
    catalogue: Catalogue,
) -> None:
    wanted = replace(
        PLAN,
        environment=Choice.of(environment, alias="e"),
        agent=Choice.of(agent, alias="a"),
    )
    found = failures(wanted, tmp_path / "run", catalogue)
    assert len(found) == 1 and all(reason in each for each in found)


def astray(evidence: Evidence) -> list[Measurement]:
    raise LookupError("nothing here")


@dataclass
class Deep(ScriptedAgent):
    """Fails far down, in long words, or as it should."""

    depth: int = 3
    words: str = "too deep"
    expected: bool = False

    async def act(self, observation: Observation) -> Decision:
        self._descend(self.depth)
        return await super().act(observation)

    def _descend(self, left: int) -> None:
        if not left:
            raise (GdeError if self.expected else RuntimeError)(self.words)
        self._descend(left - 1)


def deep(**settings: Any) -> Plan:
    return replace(PLAN, agent=Choice.of(lambda: Deep(**settings), alias="deep"))


def test_a_failure_tells_where_it_was_raised_once_for_a_reason(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    wanted = replace(deep(), metrics=("success", Choice.of(astray)))
    stored = evaluate(wanted, tmp_path / "run", catalogue)
    result = RunFolder.open(tmp_path / "run").read_result()
    assert result.failures == stored.failures
    first, *others = [one for one in result.failures if one.stage == "rollout"]
    assert "in _descend" in first.traceback and first.traceback.endswith(
        "RuntimeError: too deep\n"
    )
    assert "During handling" not in first.traceback
    assert first.traceback.count("\n    self._descend(left - 1)") == 3
    assert (
        others
        and {one.reason for one in others} == {first.reason}
        and not any(one.traceback for one in others)
    )
    (metric,) = [one for one in result.failures if one.stage == "metric"]
    assert "in astray" in metric.traceback
    again = rescore(tmp_path / "run", catalogue=catalogue)
    assert [one for one in again.failures if one.stage == "rollout"] == [first, *others]


def test_a_failure_that_was_expected_needs_no_traceback(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    result = evaluate(deep(expected=True), tmp_path / "run", catalogue)
    assert {one.reason for one in result.failures} == {"too deep"} and not any(
        one.traceback for one in result.failures
    )


def test_of_a_long_traceback_the_end_is_kept(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    result = evaluate(
        deep(depth=200, words="long " * 10_000 + "end"), tmp_path / "run", catalogue
    )
    kept = result.failures[0].traceback
    assert kept.endswith("end\n") and len(kept) == CHARACTERS


def test_a_metric_that_ends_the_process_is_one_failure(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    result = evaluate(
        replace(PLAN, metrics=("success", Choice.of(leaves))),
        tmp_path / "run",
        catalogue,
    )
    assert result.status == "partial"
    assert [failure.reason for failure in result.failures] == ["SystemExit: 7"]
    assert "success" in {each.name for each in result.measurements}


def test_what_cannot_be_closed_is_left(tmp_path: Path, catalogue: Catalogue) -> None:
    wanted = replace(PLAN, environment=Choice.of(lambda: Clinging(), alias="e"))
    assert evaluate(wanted, tmp_path / "run", catalogue).status == "ok"


@pytest.mark.parametrize(
    "what",
    [KeyboardInterrupt(), BaseExceptionGroup("both", [Odd(), KeyboardInterrupt()])],
)
def test_an_interruption_is_nobody_s_failure(
    what: BaseException, tmp_path: Path, catalogue: Catalogue
) -> None:
    with pytest.raises(KeyboardInterrupt):
        evaluate(
            replace(PLAN, agent=Choice.of(lambda: Raising(what=what), "a")),
            tmp_path / "run",
            catalogue,
        )


@pytest.mark.parametrize(
    "word",
    [
        {"actions": (), "value": None},
        {"actions": (), "value": -inf},
        {"actions": (), "value": -0.0},
    ],
)
def test_where_nothing_is_to_be_had_no_action_need_be_best(
    word: dict[str, Any], tmp_path: Path, catalogue: Catalogue
) -> None:
    wanted = replace(
        PLAN, environment=Choice.of(lambda: Certifying(word=word), alias="e")
    )
    assert evaluate(wanted, tmp_path / "run", catalogue).status == "ok"


def test_probabilities_may_be_of_some_actions_and_off_by_rounding(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    wanted = replace(
        PLAN, agent=Choice.of(lambda: Unsure(shares={"LEFT": 1 + 1e-12}), alias="a")
    )
    assert evaluate(wanted, tmp_path / "run", catalogue).status == "ok"


def test_a_metric_fails_whatever_it_raises(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    wanted = replace(PLAN, metrics=(Choice.of(odd), Choice(name="success")))
    result = evaluate(wanted, tmp_path / "run", catalogue)
    assert [(one.stage, one.reason) for one in result.failures] == [
        ("metric", "Odd: number")
    ]
    assert [(one.name, one.reason) for one in result.measurements] == [
        ("success", ""),
        ("odd", "Odd: number"),
    ]


class Stumbling:
    """Implements `gde.parts.executor.Executor`: raises something after the first
    item.
    """

    workers = 1
    fault: BaseException | None = None

    def map(self, job: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        yield job(items[0])
        if self.fault is not None:
            raise self.fault


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (RuntimeError("rope"), "RuntimeError: rope"),
        (SystemExit(0), "SystemExit: 0"),
        (Odd("end"), "Odd: end"),
        (ConnectionError("cut"), "ConnectionError: cut"),
    ],
)
def test_a_fault_of_the_executor_stops_the_run_and_names_it(
    fault: BaseException,
    said: str,
    tmp_path: Path,
    catalogue: Catalogue,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    how = How(executor=Choice.of(Stumbling, "rope"))
    monkeypatch.setattr(Stumbling, "fault", fault)
    with pytest.raises(RunFailed) as stopped:
        evaluate(PLAN, tmp_path / "run", catalogue, how=how)
    assert stopped.value.exit_code == 3 and stopped.value.__notes__ == [
        str(tmp_path / "run")
    ]
    assert str(stopped.value).startswith(
        f"executor 'rope' of {__name__} failed ({said}); finished work is kept"
    )
    monkeypatch.setattr(Stumbling, "fault", None)
    assert resume(tmp_path / "run", catalogue, how=how).status == "ok"
