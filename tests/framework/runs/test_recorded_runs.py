"""Runs that were recorded come out the same: who changes what a plan gives raises a
version.

A line of recorded_runs.json holds a plan and its measurements: name, place, value,
interval and n. Some hold of each turn state, status, action, optimal actions, value,
reward and the hash of the observation; of each completion the answer and hashes of
reasoning and tokens.

`python tests/framework/runs/test_recorded_runs.py` records anew.
"""

import json
import warnings
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from gde import Evidence, Trajectory, evaluate, load_evidence
from gde.request.planfile import plan_of
from gde.validating import marked

FILE = Path(__file__).with_name("recorded_runs.json")
RECORDED: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
ADVICE = "results changed: raise VERSION_OF_STAGES (or the offer's `version`) and record anew"
OF_TORCH = ("nano", "probed")
CLOSE = 1e-9
"""Without AVX, numbers of MEG change by 1e-14 of their value, the others not at all."""
TRAINED = 1e-5
"""Of probes, which are trained in float32: without AVX they change by up to 4e-7."""
UNTRAINED = 0.02
"""Of controls: torch draws random weights otherwise without AVX (up to 0.01), and of a
few shuffled labels two may change their ranks on another processor (0.016)."""


@cache
def again(name: str, folder: Path) -> tuple[Evidence, list[Any]]:
    """The evidence and the measurements of the plan, run now."""
    if name in OF_TORCH:
        pytest.importorskip("torch")
    result = evaluate(plan_of(marked(RECORDED[name]["plan"]), name), folder / name)
    assert not result.failures
    return load_evidence(folder / name), [
        json.loads(json.dumps(shown(one))) for one in result.measurements
    ]


def shown(one: Any) -> list[Any]:
    return [one.name, dict(one.where), one.value, one.interval, one.n]


def digest(content: bytes) -> str:
    return sha256(content).hexdigest()[:8]


def written(trajectory: Trajectory) -> dict[str, Any]:
    turns = [
        [
            turn.state.index if turn.state else None,
            turn.decision.status,
            turn.decision.action,
            None if turn.optimal is None else list(turn.optimal),
            turn.value,
            turn.reward,
            digest(turn.observation.text.encode()),
        ]
        for turn in trajectory.turns
    ]
    return {"world": trajectory.world.id, "seed": trajectory.seed, "turns": turns}


def episodes(evidence: Evidence) -> dict[str, Any]:
    return {str(one.key): written(one) for one in evidence.trajectories}


def completions(evidence: Evidence) -> list[list[str]]:
    given = (
        turn.decision.completion for one in evidence.trajectories for turn in one.turns
    )
    return [
        [
            each.text,
            digest((each.reasoning or "").encode()),
            digest(tokens(each.tokens)),
        ]
        for each in given
        if each is not None
    ]


def tokens(ids: tuple[int, ...]) -> bytes:
    return b"".join(each.to_bytes(4, "little", signed=True) for each in ids)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recorded")


@pytest.mark.parametrize("name", [n for n in RECORDED if "episodes" in RECORDED[n]])
def test_the_episodes_are_those_of_the_record(name: str, folder: Path) -> None:
    evidence, _ = again(name, folder)
    assert episodes(evidence) == RECORDED[name]["episodes"], ADVICE


@pytest.mark.parametrize("name", RECORDED)
def test_the_measurements_are_those_of_the_record(name: str, folder: Path) -> None:
    _, measured = again(name, folder)
    wanted = RECORDED[name]["measurements"]
    assert [named(one) for one in measured] == [named(one) for one in wanted], ADVICE
    for one, known in zip(measured, wanted, strict=True):
        allowed = tolerance(name, one[1])
        same = pytest.approx([*numbers(known)], rel=allowed, abs=1e-12)
        assert [*numbers(one)] == same, f"{one[:2]}: {ADVICE}"


def named(one: list[Any]) -> list[Any]:
    """What a measurement is of: name, place, n, and whether it has a value."""
    name, where, value, interval, n = one
    return [name, where, n, value is None, interval is None]


def numbers(one: list[Any]) -> Iterator[float]:
    _, _, value, interval, _ = one
    if value is not None:
        yield value
    yield from interval or ()


def tolerance(name: str, where: dict[str, Any]) -> float:
    if name != "probed":
        return CLOSE
    return TRAINED if where.get("control", "none") == "none" else UNTRAINED


def test_the_model_says_what_it_said(folder: Path) -> None:
    evidence, _ = again("nano", folder)
    assert completions(evidence) == RECORDED["nano"]["completions"], ADVICE


def record() -> None:
    """Write the file anew."""
    make = {"episodes": episodes, "completions": completions}
    with TemporaryDirectory() as place:
        for name, known in RECORDED.items():
            evidence, known["measurements"] = again(name, Path(place))
            for part in make.keys() & known.keys():
                known[part] = make[part](evidence)
    lines = [f'"{name}":{compact(known)}' for name, known in RECORDED.items()]
    FILE.write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")


def compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    record()
