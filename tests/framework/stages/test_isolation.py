"""Reward models that are not gde's own run where there is no truth to be found."""

import asyncio
import gc
import inspect
import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

import cloudpickle
import pytest

from gde import Choice, Plan, Rewards, Transcript, evaluate, load_evidence
from gde.data.reward import NOT_ISOLATED
from gde.data.trajectory import Trajectory

# How pytest was called decides whether another process can import this module.
cloudpickle.register_pickle_by_value(sys.modules[__name__])
Look = Callable[[], Any]


def in_objects() -> Any:
    return next(each for each in gc.get_objects() if isinstance(each, Trajectory))


def in_frames() -> Any:
    frame: Any = sys._getframe()
    while frame is not None:
        for value in [*frame.f_locals.values()]:
            if hasattr(value, "trajectory") or isinstance(value, Trajectory):
                return value
        frame = frame.f_back
    raise LookupError


def in_callers() -> Any:
    (found, *_) = [
        one.frame.f_locals["trajectory"]
        for one in inspect.stack()
        if "trajectory" in one.frame.f_locals
    ]
    return found


def in_the_working_directory() -> Any:
    return next(Path.cwd().rglob("run.sqlite"))


def in_open_files() -> Any:
    files = [os.path.realpath(each) for each in Path("/proc/self/fd").iterdir()]
    return next(each for each in files if each.endswith(".sqlite"))


def in_arguments_and_variables() -> Any:
    words = [*sys.argv, *sys.orig_argv, os.environ.get("PWD", "")]
    found = [each for word in words if word for each in Path(word).rglob("run.sqlite")]
    return found[0]


LOOKS: list[Look] = [
    in_objects,
    in_frames,
    in_callers,
    in_the_working_directory,
    in_open_files,
    in_arguments_and_variables,
]


def cheat(look: Look) -> Callable[[Transcript], list[float]]:
    """Rewards everything once the truth is found."""

    def judge(transcript: Transcript) -> list[float]:
        try:
            found = look() is not None
        except (LookupError, StopIteration, ValueError):
            found = False
        return [float(found)] * len(transcript.steps)

    judge.__name__ = judge.__qualname__ = look.__name__
    return judge


def judged(folder: Path, *rewards: Any) -> dict[str, list[Any]]:
    """The traces of a run, by reward model."""
    plan = Plan(
        environment="grid",
        agent=Choice(name="random"),
        rewards=rewards,
        episodes=2,
    )
    evaluate(plan, folder)
    found: dict[str, list[Any]] = {}
    for trace in load_evidence(folder).reward_traces:
        found.setdefault(trace.model, []).append(trace)
    return found


def test_cheats_of_six_kinds_find_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PWD", str(tmp_path))
    found = judged(Path("run"), *map(cheat, LOOKS))
    assert {*found} == {look.__name__ for look in LOOKS}
    for name, traces in found.items():
        assert all(not each.failure for each in traces), name
        assert not any(each.values.any() for each in traces), name
        assert not any(NOT_ISOLATED in each.counts for each in traces), name


class Unsendable:
    """Holds what no other process can have."""

    def __init__(self, look: Look) -> None:
        self.judge = cheat(look)
        self.lock = Lock()

    def rewards(self, transcript: Transcript) -> list[float]:
        return self.judge(transcript)


def test_what_cannot_be_sent_stays_and_is_marked(tmp_path: Path) -> None:
    """The same cheats find the truth there."""
    for look in (in_objects, in_frames, in_callers):
        (traces,) = judged(tmp_path / look.__name__, Unsendable(look)).values()
        assert all(each.values.all() for each in traces)
        assert all(each.counts[NOT_ISOLATED] == 1 for each in traces)


class AtOnce:
    """Answers when it has been asked twice."""

    def __init__(self) -> None:
        self.n_asked = 0

    async def rewards(self, transcript: Transcript) -> Rewards:
        self.n_asked += 1
        while self.n_asked < 2:
            await asyncio.sleep(0.001)
        return Rewards(values=[0.5] * len(transcript.steps), made_by="both")  # type: ignore[arg-type]


def test_a_model_that_waits_has_several_episodes_at_once(tmp_path: Path) -> None:
    (traces,) = judged(tmp_path / "run", AtOnce).values()
    assert {each.made_by for each in traces} == {"both"}
    assert all(NOT_ISOLATED not in each.counts for each in traces)


def dying(transcript: Transcript) -> list[float]:
    sys.stdout.write("not an answer")
    os._exit(7)


def forging(transcript: Transcript) -> list[float]:
    for place in range(3, 30):
        with suppress(OSError):
            os.write(place, b"[1, 2, 3]\n")
    return [0.0] * len(transcript.steps)


def raising(transcript: Transcript) -> list[float]:
    raise SystemExit("enough")


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (dying, "its process ended with exit code 7"),
        (forging, "its process ended with exit code "),
        (raising, "SystemExit: enough"),
        (lambda transcript: [0.5], "ValueError: wanted .* rewards, one a step, got 1"),
    ],
)
def test_a_process_that_fails_is_the_reason_for_no_rewards(
    model: Any, reason: str, tmp_path: Path
) -> None:
    (traces,) = judged(tmp_path / "run", model).values()
    for each in traces:
        assert re.match(reason, each.failure)
