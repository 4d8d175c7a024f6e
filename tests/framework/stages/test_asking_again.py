"""A part can show the run's agent its turns again; what it then asks is what it
asked.
"""

import asyncio
from pathlib import Path

import pytest

from gde import Choice, Plan, evaluate, load_evidence
from gde.data.completion import ChatRequest, Completion
from gde.errors import GdeError
from gde.parts.context import OutsideRun
from gde.parts.language_model import LanguageModel
from gde.request.catalogue import Catalogue
from gde.request.resolve import resolve
from gde.stages.context import Resources
from gde.testing.context import PlainContext


class Noting:
    """Answers as the model does, and notes what it was asked."""

    def __init__(self, model: LanguageModel) -> None:
        self.model, self.info, self.asked = model, model.info, list[ChatRequest]()

    async def complete(self, request: ChatRequest) -> Completion:
        self.asked.append(request)
        return await self.model.complete(request)

    def close(self) -> None:
        """Nothing to release."""


PLAN = Plan(
    environment=Choice(name="corridor", config={"length": 5}),
    agent=Choice(name="asking"),
    metrics=(Choice(name="success"),),
    episodes=2,
)


def test_the_agent_asks_again_what_it_asked(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    evaluate(PLAN, tmp_path / "run", catalogue)
    evidence = load_evidence(tmp_path / "run", catalogue)
    context = Resources(resolve(PLAN, catalogue)).context("metric", "some")
    for one in evidence.trajectories:
        made: list[Noting] = []

        def through(model: LanguageModel, made: list[Noting] = made) -> LanguageModel:
            made.append(Noting(model))
            return made[-1]

        agent = context.agent(one, through)
        for turn in one.turns:
            decision = asyncio.run(agent.act(turn.observation))
            assert decision.action == turn.decision.action
            completion = turn.decision.completion
            assert completion is not None
            assert made[0].asked[-1].asked_of(completion.model) == completion.request


def test_a_world_that_is_another_now_is_refused(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    evaluate(PLAN, tmp_path / "run", catalogue)
    (one, *_) = load_evidence(tmp_path / "run", catalogue).trajectories
    other = Plan(
        environment=Choice(name="corridor", config={"length": 6}),
        agent=Choice(name="asking"),
        episodes=2,
    )
    context = Resources(resolve(other, catalogue)).context("metric", "some")
    with pytest.raises(GdeError, match="the world has changed"):
        context.agent(one, Noting)


def test_outside_of_a_run_there_is_no_agent(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    evaluate(PLAN, tmp_path / "run", catalogue)
    (one, *_) = load_evidence(tmp_path / "run", catalogue).trajectories
    for context in (
        OutsideRun(),
        PlainContext(),
        Resources(catalogue).context("metric", "some"),
    ):
        with pytest.raises(GdeError, match="episode 0/0/0"):
            context.agent(one, Noting)
