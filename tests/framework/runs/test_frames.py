"""The turns of a run as a frame."""

import weakref
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gde import Choice, Evidence, Plan, Trajectory, evaluate, load_evidence, turns_frame
from gde.request.catalogue import Catalogue
from gde.testing.samples import sample_evidence


@pytest.fixture
def run(tmp_path: Path, catalogue: Catalogue) -> Path:
    plan = Plan(
        environment=Choice(name="corridor", config={"length": [3, 5]}),
        agent=Choice(name="moody", config={"statuses": ["ok", "empty"]}),
        metrics=["accuracy", "outcomes"],
        episodes=5,
    )
    return Path(evaluate(plan, tmp_path / "run", catalogue).run)


def test_one_row_a_turn_that_agrees_with_the_metrics(run: Path) -> None:
    frame, evidence = turns_frame(str(run)), load_evidence(run)
    assert len(frame) == sum(len(each.turns) for each in evidence.trajectories)
    assert frame.episode.nunique() == len(evidence.trajectories)
    assert (
        frame.groupby("episode")["index"].max() + 1 == frame.groupby("episode").size()
    ).all()
    unusable = frame[frame.status == "empty"]
    assert len(unusable) > 0
    assert unusable.action.isna().all() and not unusable.optimal.any()
    assert frame[frame.status == "ok"].optimal.all()
    assert set(frame.length) == {3, 5}
    assert frame.tokens.isna().all()
    last = frame.groupby("episode").tail(1)
    assert last.success.tolist() == [each.success for each in evidence.trajectories]
    assert turns_frame(evidence).equals(frame)


def test_tokens_are_those_of_the_completion(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    plan = Plan(environment="corridor", agent="asking", metrics=["success"], episodes=2)
    run = evaluate(plan, tmp_path / "run", catalogue).run
    told = [
        turn.decision.completion
        for each in load_evidence(run).trajectories
        for turn in each.turns
    ]
    assert turns_frame(run).tokens.tolist() == [
        completion.n_completion for completion in told if completion
    ]


class Streamed(Sequence[Trajectory]):
    """Trajectories that are made as they are iterated over, and counted as long as
    somebody holds them.
    """

    def __init__(self, one: Trajectory, n: int) -> None:
        self._one, self._n = one, n
        self.held: list[int] = []

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, index: Any) -> Any:
        raise AssertionError("wanted iteration alone")

    def __iter__(self) -> Iterator[Trajectory]:
        alive: weakref.WeakSet[Trajectory] = weakref.WeakSet()
        for n in range(self._n):
            made = replace(self._one, labels={"n": n})
            alive.add(made)
            self.held.append(len(alive))
            yield made


def test_trajectories_are_let_go_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Trajectory, "__hash__", object.__hash__)
    evidence = sample_evidence()
    streamed = Streamed(evidence.trajectories[0], 50)
    frame = turns_frame(Evidence(trajectories=streamed))
    assert frame.episode.size == 50 * len(evidence.trajectories[0].turns)
    assert max(streamed.held) <= 2
