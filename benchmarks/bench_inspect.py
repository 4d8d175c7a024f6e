"""CPU that two harnesses add to a turn of a language model that answers at once. Prints
one JSON object.

    pip install inspect-ai
    python benchmarks/bench_inspect.py [EPISODES]

The peer is `inspect_ai`, which need not be installed for anything else: without it
nothing is measured. Both walk the same grids with the same model, shown the observation
of the turn alone; both write their usual record and give the success of every episode.
Only this one solves worlds and keeps what would have been best: it is measured with
that, and in grids that do not tell what is best, where it does the same work. A first
run loads what is loaded once; of three more the best counts, for others use the machine
too.
"""

import asyncio
import importlib.util
import json
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from no_page import NoPage
from sizes import size

from gde import (
    Catalogue,
    Choice,
    EnvironmentOffer,
    How,
    ModelOffer,
    NoConfig,
    Plan,
    hookimpl,
)
from gde.data.completion import ChatRequest, Completion, Message, ModelInfo
from gde.request.catalogue import load_plugins
from gde.runs.evaluating import evaluate
from gde.stages.rollout import world_seed
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.environment import GridEnvironment

EPISODES = size(100, 2)
SIZE = size(15, 7)
ROUNDS = size(3, 1)
CONCURRENCY = 32
Measured = tuple[int, float]
"""Turns, and milliseconds of CPU for each."""


class Instant:
    """A language model that always goes right, at once."""

    info = ModelInfo(name="instant")

    async def complete(self, request: ChatRequest) -> Completion:  # noqa: ARG002
        """The answer."""
        return Completion(
            text="RIGHT", reasoning=None, finish="stop", n_prompt=100, n_completion=1
        )

    def close(self) -> None:
        """Nothing is held."""


class Unsolved:
    """The same grids, which do not tell what is best in them."""

    def __init__(self) -> None:
        grid = GridEnvironment(GridConfig(size=SIZE))
        self.reset, self.step, self.close = grid.reset, grid.step, grid.close
        self.task, self.world = grid.task, grid.world


@hookimpl
def gde_language_models() -> Sequence[ModelOffer[Any, Any]]:
    """The model: this file is a plugin as well."""
    return (
        ModelOffer(
            name="instant",
            summary="answers at once",
            config=NoConfig,
            make=lambda _, __: Instant(),
        ),
    )


@hookimpl
def gde_environments() -> Sequence[EnvironmentOffer[Any, Any]]:
    """The grids of which nothing is solved."""
    return (
        EnvironmentOffer(
            name="unsolved",
            summary="grids",
            config=NoConfig,
            make=lambda _, __: Unsolved(),
        ),
    )


def here(episodes: int, folder: Path) -> int:
    """The turns of a run of this harness."""
    return run(Choice(name="grid", config={"size": SIZE}), episodes, folder)


def unsolved(episodes: int, folder: Path) -> int:
    """Those of one that solves no worlds, as the peer solves none."""
    return run(Choice(name="unsolved"), episodes, folder)


def run(environment: Choice, episodes: int, folder: Path) -> int:
    """The turns of a run here."""
    plan = Plan(
        environment=environment,
        agent=Choice(name="asking", config={"model": "instant"}),
        metrics=("success",),
        episodes=episodes,
    )
    how = How(concurrency=CONCURRENCY, reporters=(NoPage,))
    return evaluate(plan, folder, known(), how=how).subject.turns


@cache
def known() -> Catalogue:
    """What there is, found once in a process."""
    return Catalogue(load_plugins(modules=("gde.testing.plugin", Path(__file__).stem)))


def bare(episodes: int, folder: Path) -> int:  # noqa: ARG001
    """The turns of a loop that makes the same worlds and asks the same model, and
    records and scores nothing.
    """

    async def walk() -> int:
        asked, grid, turns = Instant(), GridEnvironment(GridConfig(size=SIZE)), 0
        for world in range(episodes):
            observation = grid.reset(world_seed(0, world, 0))
            for turn in range(grid.task().horizon):
                message = Message(role="user", content=observation.text)
                outcome = grid.step(
                    (
                        await asked.complete(
                            ChatRequest(messages=(message,), seed=turn)
                        )
                    ).text
                )
                observation, turns = outcome.observation, turns + 1
                if outcome.terminated or outcome.truncated:
                    break
        return turns

    return asyncio.run(walk())


def there(episodes: int, folder: Path) -> int:
    """The turns of a run of inspect_ai."""
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import (
        ChatMessageUser,
        GenerateConfig,
        ModelAPI,
        ModelOutput,
        get_model,
        modelapi,
    )
    from inspect_ai.scorer import Score, mean, scorer
    from inspect_ai.solver import solver

    asked, turns = Instant(), 0

    @modelapi(name="instant")
    class Instantly(ModelAPI):
        async def generate(
            self,
            input: Any,
            tools: Any,  # noqa: ARG002
            tool_choice: Any,  # noqa: ARG002
            config: GenerateConfig,
        ) -> ModelOutput:
            message = Message(role="user", content=input[-1].text)
            answer = await asked.complete(
                ChatRequest(messages=(message,), seed=config.seed or 0)
            )
            return ModelOutput.from_content("instant", answer.text)

        def max_connections(self) -> int:
            return CONCURRENCY

    @solver
    def walk() -> Any:
        async def solve(state: Any, generate: Any) -> Any:  # noqa: ARG001
            nonlocal turns
            grid, model = GridEnvironment(GridConfig(size=SIZE)), get_model()
            observation, reached = (
                grid.reset(world_seed(0, int(state.sample_id) - 1, 0)),
                0.0,
            )
            for _ in range(grid.task().horizon):
                said = await model.generate([ChatMessageUser(content=observation.text)])
                outcome = grid.step(said.completion)
                turns += 1
                observation, reached = outcome.observation, outcome.success
                if outcome.terminated or outcome.truncated:
                    break
            state.metadata["success"] = reached
            return state

        return solve

    @scorer(metrics=[mean()])
    def success() -> Any:
        async def score(state: Any, target: Any) -> Score:  # noqa: ARG001
            return Score(value=state.metadata["success"])

        return score

    samples = [Sample(input="walk", id=i) for i in range(1, episodes + 1)]
    (log,) = eval(
        Task(dataset=samples, solver=walk(), scorer=success()),
        model="instant/instant",
        log_dir=str(folder),
        display="none",
        max_samples=CONCURRENCY,
        score_display=False,
    )
    if log.status != "success":
        raise SystemExit(f"inspect_ai: {log.error}")
    return turns


def measured(harness: Callable[[int, Path], int], episodes: int) -> Measured:
    """The best of some runs, after a first one."""
    took = []
    with TemporaryDirectory() as folder:
        harness(2, Path(folder) / "first")
        for number in range(ROUNDS):
            start = time.process_time()
            turns = harness(episodes, Path(folder) / str(number))
            took.append(time.process_time() - start)
    return turns, 1000 * min(took) / turns


def main(episodes: int) -> None:
    """Measure and print."""
    if importlib.util.find_spec("inspect_ai") is None:
        sys.stdout.write(json.dumps({"skipped": "inspect-ai is not installed"}) + "\n")
        return
    turns, cpu = measured(here, episodes)
    _, unsolved_cpu = measured(unsolved, episodes)
    their_turns, their_cpu = measured(there, episodes)
    _, bare_cpu = measured(bare, episodes)
    told = {
        "turns": turns,
        "cpu_ms_per_turn": cpu,
        "bare_cpu_ms_per_turn": bare_cpu,
        "unsolved_cpu_ms_per_turn": unsolved_cpu,
        "inspect_turns": their_turns,
        "inspect_cpu_ms_per_turn": their_cpu,
        "inspect_over_gde": their_cpu / cpu,
        "inspect_over_unsolved": their_cpu / unsolved_cpu,
    }
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else EPISODES)
