"""Attempts of a reward model to read the truth of a recorded trajectory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gde import (
    Choice,
    NoConfig,
    Offer,
    Plan,
    Rewards,
    Transcript,
    evaluate,
    load_evidence,
)
from gde.data.reward import READS_AHEAD
from gde.testing import check_reward_model

Read = Callable[[Any], Sequence[float]]


@dataclass
class Cheat:
    """Rewards what it manages to read of the truth."""

    read: Read
    calls: list[object] = field(default_factory=list)

    async def rewards(self, transcript: Transcript) -> Rewards:
        self.calls.append(transcript)
        values = np.array(self.read(transcript), dtype=np.float64)
        return Rewards(values=np.broadcast_to(values, len(transcript.steps)))


REFUSED: dict[str, Read] = {
    "side of the record": lambda one: [one.labels["side"] == "positive"],
    "identity of the world": lambda one: ["positive" in one.world.id],
    "success of the episode": lambda one: [one.succeeded],
    "recorded reward": lambda one: [turn.state.facts["reward"] for turn in one.turns],
    "place in the plan": lambda one: [one.key.world % 2 == 0],
    "rewards of the world": lambda one: [step.reward for step in one.steps],
    "certified values": lambda one: [step.value for step in one.steps],
    "last state": lambda one: [one.final_state is not None],
    "end of the episode": lambda one: [one.ending == "terminated"],
    "next action": lambda one: [step.decision.action == "x" for step in one.steps],
    "admissible actions": lambda one: [len(step.actions) for step in one.steps],
}
"""Each reads an attribute that a transcript does not have."""


def judged(folder: Path, **models: object) -> dict[str, float | None]:
    """EPIC distances of reward models in twelve trajectories of the blocks world."""
    offers = {
        name: Offer(
            name=name,
            summary="cheats",
            config=NoConfig,
            make=lambda _, __, model=model: model,
        )
        for name, model in models.items()
    }
    plan = Plan(
        environment=Choice(
            name="rewardbench", config={"share": 0.04, "show_success": True}
        ),
        agent=Choice(name="random"),
        rewards=[
            Choice(name=name, alias=name, part=one) for name, one in offers.items()
        ],
        metrics=("epic",),  # type: ignore[arg-type]
        episodes=20,
    )
    result = evaluate(plan, folder)
    return {
        str(one.where["reward"]): one.value
        for one in result.measurements
        if one.name == "epic"
    }


@pytest.mark.parametrize("name", REFUSED)
def test_the_check_refuses_a_model_that_reads_the_truth(name: str) -> None:
    with pytest.raises(AssertionError, match="must not read `"):
        check_reward_model(lambda: Cheat(REFUSED[name]))


def careful(*names: str) -> Read:
    """Reads attributes that may be missing."""

    def read(one: Any) -> Sequence[float]:
        for name in names:
            one = getattr(one, name, None)
        return [float(one == 1)]

    return read


def test_what_is_left_of_cheats_in_a_run_is_chance_or_a_mark(tmp_path: Path) -> None:
    def by_demonstration(one: Any) -> Sequence[float]:
        return [one.steps[-1] in one.demonstration]

    def attached(one: Any) -> Sequence[float]:
        one.side = "positive"
        return [1.0]

    found = judged(
        tmp_path / "run",
        careful=Cheat(careful("world", "labels")),
        demonstration=Cheat(by_demonstration),
        attached=Cheat(attached),
        refused=Cheat(REFUSED["side of the record"]),
        ahead=Cheat(lambda one: [float(len(one.steps))]),
    )
    chance = pytest.approx(np.sqrt(0.5))
    assert found["careful"] == found["demonstration"] == chance
    assert found["attached"] is found["refused"] is None
    ahead = {
        one.model
        for one in load_evidence(tmp_path / "run").reward_traces
        if one.counts.get(READS_AHEAD)
    }
    assert ahead == {"ahead"}


def test_a_model_that_counts_its_calls_is_refused() -> None:
    """Successes and failures take turns in a run."""
    model = Cheat(lambda _: [len(model.calls) % 2])
    with pytest.raises(AssertionError, match="in any order"):
        check_reward_model(lambda: model)
