"""Parts as functions and plain objects, and what is said of those that are broken."""

import asyncio
import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from own_parts import go_right

from gde import (
    Catalogue,
    Decision,
    Evidence,
    GdeError,
    How,
    Observation,
    Plan,
    Result,
    Rewards,
    Trajectory,
    Transcript,
    aevaluate,
    dry,
    evaluate,
    load_evidence,
    load_plugins,
    preflight,
    rescore,
)
from gde.reporting.finding import opening
from gde.testing.parts import Corridor

N = 3


def played(path: Path, strict: bool = False, **parts: Any) -> Result:
    fields = {"agent": go_right, "metrics": ["success"], "episodes": N, **parts}
    return evaluate(Plan(environment=Corridor, **fields), path / "run", strict=strict)


def value(result: Result, name: str) -> float | None:
    (one,) = [one for one in result.measurements if one.name == name]
    return one.value


# Agents


async def later(observation: Observation) -> str:
    return "RIGHT"


class Plain:
    def act(self, observation: Observation) -> str:
        return "RIGHT"


class Async:
    async def act(self, observation: Observation) -> Decision:
        return Decision.act("RIGHT")


class Prepared:
    """Can act only once it has begun, and in one episode alone."""

    def __init__(self) -> None:
        self.ways: list[str] = []

    def begin(self, brief: Any) -> None:
        assert not self.ways
        self.ways += brief.task.actions

    def act(self, observation: Observation) -> str:
        return self.ways[1]


class Policy:
    """As Stable-Baselines3 has them."""

    def __init__(self, given: object) -> None:
        self.given = given

    def predict(self, observation: Observation) -> Any:
        return self.given


class Kept(Policy):
    """A policy of a library may hold what cannot be copied."""

    def __deepcopy__(self, _: object) -> "Kept":
        raise TypeError("cannot be copied")


def plain_to_right(observation: Observation) -> str:
    return "RIGHT"


@pytest.mark.parametrize(
    "agent",
    [
        plain_to_right,
        later,
        lambda: plain_to_right,
        Plain,
        Plain(),
        lambda: Plain(),
        Async,
        Async(),
        Prepared,
        Prepared(),
        Policy((np.int64(1), None)),
        Policy((np.array(1), None)),
        Policy((np.array([1]), None)),
        Policy(1),
        Policy("RIGHT"),
        Kept(1),
        lambda: Policy(1),
    ],
)
def test_every_form_of_an_agent_plays(agent: Any, tmp_path: Path) -> None:
    result = played(tmp_path, agent=agent)
    assert (result.status, value(result, "success")) == ("ok", 1.0)


def broken(observation: Observation) -> str:
    raise KeyError("compass")


class Forgetful:
    def act(self, observation: Observation) -> None:
        return None


class Unready(Plain):
    def begin(self, brief: Any) -> None:
        raise OSError("no weights")


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        (lambda _: 0, r"^<lambda> must give .* action \(LEFT, RIGHT\).* got 0$"),
        (lambda _: ["RIGHT"], r"^<lambda> must give .* got \['RIGHT'\]$"),
        (Forgetful, r"^Forgetful\.act must give the name of an action .* got None$"),
        (broken, r"^broken: KeyError: 'compass'$"),
        (Unready, "OSError: no weights"),
        (Policy(2), r"^Policy\.predict must give a number from 0 to 1 .* got 2$"),
        (Policy(-1), r"^Policy\.predict must give .* got -1$"),
        (Policy(True), r"^Policy\.predict must give .* got True$"),
        (Policy(np.zeros(2)), r"^Policy\.predict must give .* got array"),
    ],
)
def test_a_broken_agent_is_named_at_once_and_scores_nothing(
    agent: Any, said: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    result = played(tmp_path, agent=agent)
    assert {bool(re.search(said, one.reason)) for one in result.failures} == {True}
    assert (result.status, value(result, "success")) == ("failed", None)
    assert f"{N} of {N} episodes failed" in str(result).splitlines()[-1]

    # The reason is said when it is first met, and once.
    first, *others, last = caplog.messages
    assert first.startswith("episode 0/0/0: ")
    assert not [one for one in others if one.startswith("episode")]
    assert last.startswith(f"{result.run}: failed, missing: ")


def test_a_decision_holds_the_name_of_an_action() -> None:
    wrong: Any = 0
    with pytest.raises(TypeError, match=r"wants the name of an action, got 0$"):
        Decision.act(wrong)


def test_a_zero_of_unusable_actions_says_so(tmp_path: Path) -> None:
    result = played(tmp_path, agent=lambda _: "right")
    assert value(result, "success") == 0
    n = result.subject.turns
    assert f"None of its {n} answers was an action." in opening(result).finding
    said = f"none of {n} answers was an action: 'right' is no action: give a name as"
    assert said in str(result).splitlines()[-1]
    assert "one of LEFT, RIGHT" in str(result).splitlines()[-1]
    with pytest.raises(GdeError, match="was an action"):
        played(tmp_path / "strict", strict=True, agent=lambda _: "right")


# Metrics


def turns(episode: Trajectory) -> float:
    return len(episode.turns)


def untyped(x):  # type: ignore[no-untyped-def]
    return len(x.turns)


def length_of(one: Trajectory) -> float | None:
    return None if one.key.world else len(one.turns)


def test_a_function_of_an_episode_is_a_metric(tmp_path: Path) -> None:
    metrics = ["length", turns, untyped, length_of]
    result = played(tmp_path, metrics=metrics, episodes=8)
    assert value(result, "turns") == value(result, "length")
    assert value(result, "untyped") == value(result, "length")
    length, mine, *_ = result.measurements
    assert (mine.n, mine.interval) == (8, length.interval)

    first = load_evidence(result.run).trajectories[0]
    assert value(result, "length_of") == len(first.turns)


def test_it_is_measured_on_every_condition(tmp_path: Path) -> None:
    result = played(tmp_path, metrics=["length", turns])
    swept = evaluate(
        Plan(environment=Corridor, agent="random", metrics=[turns], goal_swap=False),
        tmp_path / "random",
    )
    assert [one.name for one in swept.measurements] == ["turns"]
    assert rescore(result.run, [turns]).status == "ok"


def raising(episode: Trajectory) -> float:
    raise ZeroDivisionError("nothing to divide by")


def texts(episode: Trajectory) -> str:
    return "three"


def of_whole_run(run: Trajectory) -> list[float]:
    return [3.0]


def of_all(evidence: Evidence) -> Any:
    return 3.0


def numbers(evidence: Evidence) -> Any:
    return [3.0]


def failing(evidence: Evidence) -> Any:
    raise ZeroDivisionError("nothing to divide by")


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        (raising, "ZeroDivisionError: nothing to divide by"),
        (texts, "is 'three': give a finite number or None"),
        (of_whole_run, "got a list: call the argument `evidence`"),
        (of_all, r"wanted a list of gde\.Measurement, got 3\.0"),
        (numbers, r"wanted a list of gde\.Measurement, got \[3\.0\]"),
        (failing, "ZeroDivisionError: nothing to divide by"),
    ],
)
def test_a_broken_metric_is_a_row_with_its_reason(
    metric: Callable[..., Any],
    said: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    result = played(tmp_path, metrics=["success", metric])
    name = metric.__name__
    (row,) = [one for one in result.measurements if one.source == name]
    assert (row.name, row.value, bool(row.reason)) == (name, None, True)
    (failure,) = result.failures
    assert re.search(said, failure.reason)
    assert (result.status, value(result, "success")) == ("partial", 1.0)
    assert f"metric {name}: " in str(result).splitlines()[-1]
    assert caplog.messages[0] == f"metric {name}: {failure.reason}"

    with pytest.raises(GdeError, match=rf"missing: metric {name}: ") as caught:
        played(tmp_path / "strict", strict=True, metrics=["success", metric])
    assert "\n" not in str(caught.value)
    assert (tmp_path / "strict" / "run" / "result.json").is_file()


def gives_none(episode: Trajectory) -> None:
    return None


def test_a_metric_that_gives_nothing_says_so(tmp_path: Path) -> None:
    result = played(tmp_path, metrics=["success", gives_none])
    (row,) = [one for one in result.measurements if one.source == "gives_none"]
    assert row.reason == "gives_none gave None for every episode: wanted a number"


def test_strict_raises_beside_an_event_loop_too(tmp_path: Path) -> None:
    plan = Plan(environment=Corridor, agent=go_right, metrics=[failing], episodes=N)
    with pytest.raises(GdeError, match="missing: metric failing: "):
        asyncio.run(aevaluate(plan, tmp_path / "run", strict=True))


def test_a_run_without_failures_says_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    result = played(tmp_path, strict=True)
    assert not caplog.messages
    assert "missing" not in str(result)
    assert len(str(result).splitlines()) <= 24
    assert all(len(line) < 200 for line in repr(load_evidence(result.run)).splitlines())


def test_nothing_is_printed_where_nobody_listens(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    logger = logging.getLogger("gde")
    silent = logging.NullHandler()
    logger.addHandler(silent)
    try:
        played(tmp_path, metrics=[failing])
    finally:
        logger.removeHandler(silent)
    assert capfd.readouterr() == ("", "")


# Reward models


def of_step(goal: str, observation: str, action: str) -> float:
    assert goal and observation
    return float(action == "RIGHT")


def in_another_order(action: str, observation: str, goal: str, more: int = 1) -> float:
    return of_step(goal, observation, action) * more


async def of_step_later(goal: str, observation: str, action: str) -> float:
    return of_step(goal, observation, action)


def listed(transcript: Transcript) -> list[float]:
    return [float(step.action == "RIGHT") for step in transcript.steps]


async def as_array(transcript: Transcript) -> Any:
    return np.array(listed(transcript))


class Judge:
    def rewards(self, transcript: Transcript) -> Any:
        return listed(transcript)


class Whole:
    async def rewards(self, transcript: Transcript) -> Rewards:
        values: Any = listed(transcript)
        return Rewards(values=values)


@pytest.mark.parametrize(
    "model",
    [
        of_step,
        in_another_order,
        of_step_later,
        listed,
        as_array,
        Judge,
        Judge(),
        Whole(),
    ],
)
def test_every_form_of_a_reward_model_judges(model: Any, tmp_path: Path) -> None:
    result = played(tmp_path, rewards=[model])
    assert result.status == "ok"
    evidence = load_evidence(result.run)
    for trace, one in zip(evidence.reward_traces, evidence.trajectories, strict=True):
        assert trace.values.tolist() == listed(Transcript.of(one))


def too_few(transcript: Transcript) -> list[float]:
    return [1.0]


def words(transcript: Transcript) -> list[str]:
    return ["good"] * len(transcript.steps)


def of_two_dimensions(trajectory: Transcript) -> Any:
    return np.zeros((20, 3))


def nothing(goal: str, observation: str, action: str) -> None:
    return None


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (too_few, r"wanted \d+ rewards, one a step, got"),
        (words, r"rewards: wanted one number a step, got \['good', "),
        (of_two_dimensions, r"one a step, got \d+x3$"),
        (nothing, r"rewards: wanted one number a step, got array\(\[None, "),
    ],
)
def test_a_broken_reward_model_is_named(
    model: Callable[..., Any],
    said: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    result = played(tmp_path, rewards=[model])
    assert result.status == "partial"
    assert all(re.search(said, one.reason) for one in result.failures)
    assert caplog.messages[0].startswith(f"reward model {model.__name__} on 0/0/0: ")
    assert all("\n" not in message for message in caplog.messages)


def broken_on_lines(goal: str, observation: str, action: str) -> float:
    raise ValueError(f"no reward in\n{np.zeros((2, 2))}")


def test_a_reason_is_one_line(tmp_path: Path) -> None:
    (first, *_) = played(tmp_path, rewards=[broken_on_lines]).failures
    assert first.reason == "ValueError: no reward in [[0. 0.] [0. 0.]]"


# What is printed, and how a run is done


def test_a_printed_result_has_the_claim_and_every_own_number(tmp_path: Path) -> None:
    result = played(tmp_path, metrics=["success", turns, gives_none])
    lines = str(result).splitlines()
    assert len(lines) <= 24
    said = " ".join(lines)
    assert opening(result).finding.replace("\xa0", " ") in said
    assert all(limit in said for limit in opening(result).limits[:1])
    assert {"turns", "gives_none"} <= {line.split()[0] for line in lines if line}


@pytest.mark.parametrize("part", ["modell", "model"])
def test_a_part_that_is_not_of_the_run_is_not_set(part: str, tmp_path: Path) -> None:
    plan = Plan(environment="corridor", agent="random", metrics=["success"], episodes=N)
    catalogue = Catalogue(load_plugins(modules=("gde.testing.plugin",)))
    how = How(settings={part: {"timeout": 9}})
    unknown = rf"unknown part of How\.settings '{part}'.* Known: agent, env, "
    with pytest.raises(GdeError, match=unknown):
        evaluate(plan, tmp_path / "run", catalogue, how=how)
    with pytest.raises(GdeError, match=unknown):
        asyncio.run(aevaluate(plan, tmp_path / "run", catalogue, how=how))
    assert not (tmp_path / "run").exists()


def test_what_a_run_will_ask_is_known_in_a_notebook_too(asking: Catalogue) -> None:
    plan = Plan(environment="corridor", agent="asking", episodes=N)

    async def cell() -> tuple[int, Plan]:
        return dry(plan, asking).episodes, preflight(plan, asking).plan

    assert asyncio.run(cell()) == (N, plan)
