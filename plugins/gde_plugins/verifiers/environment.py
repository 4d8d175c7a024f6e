"""Environments of gde for training with verifiers, with certified rewards.

A rollout is one conversation in one world.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import count, islice
from typing import Any, Literal

import verifiers as vf
from datasets import Dataset

from gde.data.answer import read_answer
from gde.data.completion import Completion
from gde.data.observation import Observation, Optimum, Outcome, Task
from gde.data.transcript import Step, Transcript
from gde.errors import GdeError
from gde.offers import Capability, EnvironmentOffer
from gde.parts.context import OutsideRun
from gde.parts.environment import Environment
from gde.request.catalogue import Catalogue
from gde.request.settings import build
from gde.runs.judging import AskedReward
from gde.stages.episode import admitted, advance, begin_world
from gde.stages.hosting import Host
from gde.stages.judging import Judge, Moment, gained
from gde.stages.rollout import world_seed

Reward = Literal["success", "optimal", "progress"] | AskedReward
CERTIFIED = ("optimal", "progress")
MISSES = 200
"""Worlds in a row that are known already, after which there are taken to be no more."""
EPISODE = "gde"
"""The entry of a rollout's state with its episode."""


@dataclass
class Episode:
    """An episode as a rollout goes through it."""

    host: Host
    judge: Judge
    shown: Observation
    moment: Moment
    turns_left: int
    shown_so_far: Transcript
    """What a reward model may see."""
    success: float = 0.0
    optimal: list[bool] = field(default_factory=list)
    """Whether the action was optimal, for each turn whose optimum is known."""
    progress: float = 0.0
    """What the turns have gained of the certified value."""

    def take(self, action: str, text: str) -> None:
        """Add an action and what it led to."""
        steps = (*self.shown_so_far.steps, Step(action, text))
        self.shown_so_far = replace(self.shown_so_far, steps=steps)


@dataclass(frozen=True)
class Worlds:
    """Makes an environment and begins its worlds."""

    name: str
    config: Any
    seed: int

    def make(self) -> Environment:
        offer = Catalogue.default().find("environment", self.name).offer
        made: Environment = offer.made(self.config, OutsideRun())
        return made

    @property
    def blocks(self) -> bool:
        """Whether the environment's calls block."""
        offer = Catalogue.default().find("environment", self.name).offer
        assert isinstance(offer, EnvironmentOffer)
        return offer.blocking

    def distinct(self) -> Iterator[dict[str, Any]]:
        """A row of a dataset for each world: its prompt and its seed.

        Worlds that are equal come once.
        """
        offer = Catalogue.default().find("environment", self.name).offer
        known: set[str] = set()
        with closing(self.make()) as environment:
            listed = 0
            if Capability.WORLDS in offer.gives:
                listed = len(environment.worlds())  # type: ignore[attr-defined]
            misses = 0
            for number in range(listed) if listed else count():
                seed = world_seed(self.seed, number, listed)
                shown = environment.reset(seed)
                world = environment.world().id
                misses = misses + 1 if world in known else 0
                if misses == MISSES:
                    return
                if not misses:
                    known.add(world)
                    prompt = opening(environment.task(), shown)
                    yield {
                        "prompt": [{"role": "user", "content": prompt}],
                        "info": {"seed": str(seed), "world": world},
                    }


class GdeEnvironment(vf.MultiTurnEnv):  # type: ignore[misc]
    """Plays the worlds of an environment, one conversation an episode."""

    def __init__(self, worlds: Worlds, **options: Any) -> None:
        super().__init__(**options)
        self._worlds = worlds

    async def setup_state(self, state: vf.State) -> vf.State:
        """Begin the world of the rollout."""
        host = await Host.begin(self._worlds.make, self._worlds.blocks)
        judge = Judge()
        begun = await host.call(begin_world, int(state["info"]["seed"]), False, judge)
        state[EPISODE] = Episode(
            host=host,
            judge=judge,
            shown=begun.observation,
            moment=begun.moment,
            turns_left=begun.task.horizon,
            shown_so_far=Transcript(
                objective=begun.task.objective, steps=(), start=begun.observation.text
            ),
        )
        return state

    async def env_response(
        self,
        messages: vf.Messages,
        state: vf.State,
        **_: Any,
    ) -> vf.Messages:
        """Take the action of the last answer; an unusable one uses up its turn."""
        episode: Episode = state[EPISODE]
        last = state["trajectory"][-1]
        completion = Completion(
            text=str(messages[-1]["content"] or ""),
            reasoning=None,
            finish="length" if last["is_truncated"] else "stop",
        )
        reading = read_answer(completion, episode.shown.actions)
        decision = admitted(reading.decision(completion), episode.shown)
        best = episode.moment.optimum
        if best is not None:
            episode.optimal.append(decision.action in best.actions)

        outcome, episode.moment = await episode.host.call(
            advance, episode.shown, decision, episode.judge
        )
        if decision.action is not None:
            episode.progress += _progress(best, episode.moment.optimum, outcome)
            episode.take(decision.action, outcome.observation.text)
        episode.shown = outcome.observation
        episode.success = outcome.success or 0.0
        episode.turns_left -= 1

        content = later(outcome.observation)
        if decision.action is None:
            content = f"No action was taken: {decision.detail}\n\n{content}"
        answer = [vf.UserMessage(content=content)]
        if outcome.terminated or outcome.truncated or not episode.turns_left:
            state["final_env_response"] = answer
        return answer

    @vf.cleanup  # type: ignore[untyped-decorator]  # types are checked without it
    async def close_environment(self, state: vf.State) -> None:
        """Release the environment; the episode's numbers stay."""
        episode: Episode | None = state.get(EPISODE)
        if episode is not None:
            await episode.host.close()


async def success(state: vf.State) -> float:
    """The share of the goal that was reached."""
    episode: Episode | None = state.get(EPISODE)
    return episode.success if episode else 0.0


async def optimal(state: vf.State) -> float:
    """The share of turns with a certified optimal action, of those whose optimum is
    known.
    """
    episode: Episode | None = state.get(EPISODE)
    if episode is None or not episode.optimal:
        return 0.0
    return sum(episode.optimal) / len(episode.optimal)


async def progress(state: vf.State) -> float:
    """What the turns have gained of the certified value."""
    episode: Episode | None = state.get(EPISODE)
    return episode.progress if episode else 0.0


def judged(model: AskedReward) -> Callable[..., Awaitable[float]]:
    """A reward function: what the reward model gives the last action, 0 without one.

    It raises GdeError where the reward model gives none.
    """

    async def reward_model(state: vf.State) -> float:
        episode: Episode | None = state.get(EPISODE)
        if episode is None or not episode.shown_so_far.steps:
            return 0.0
        return float((await model.ask("", episode.shown_so_far))[-1])

    return reward_model


def _progress(before: Optimum | None, after: Optimum | None, outcome: Outcome) -> float:
    """What a step gained; 0 where no value is certified."""
    if before is None or before.value is None:
        return 0.0
    value = after.value if after is not None and not outcome.terminated else 0.0
    return 0.0 if value is None else gained(before.value, value, outcome.reward)


def load_environment(
    environment: str,
    worlds: int = 200,
    evaluation_worlds: int = 50,
    seed: int = 0,
    reward: Reward = "success",
    **settings: Any,
) -> GdeEnvironment:
    """An environment of gde as one of verifiers.

    Args:
        environment: its name in gde.
        worlds: distinct worlds to train on.
        evaluation_worlds: further worlds for evaluation, none of them trained on.
        seed: the same seed gives the same worlds.
        reward: `success`; `optimal`, the share of turns with a certified optimal action;
            `progress`, what the turns gain of the certified value; or a
            `gde.reward_model(...)`, what it gives the last action. The others are metrics.
        settings: fields of the environment, see `gde show environment NAME`.

    Raises:
        GdeError: an unknown name or field, a value out of range, or too few worlds; the
            environment certifies no optimum.
    """
    offer = Catalogue.default().find("environment", environment).offer
    certifies = {Capability.OPTIMUM, Capability.MDP} & set(offer.gives)
    if reward in CERTIFIED and not certifies:
        raise GdeError(
            f"environment {environment!r} certifies no optimal actions: choose reward='success'"
        )
    functions: dict[str, Callable[..., Awaitable[float]]] = {
        each.__name__: each for each in (success, optimal, progress)
    }
    trained = reward.name if isinstance(reward, AskedReward) else reward
    if isinstance(reward, AskedReward):
        functions[trained] = judged(reward)
    if trained not in functions:
        raise GdeError(
            f"reward: wanted {', '.join(functions)} or gde.reward_model(...), got {reward!r}"
        )

    config = build(offer.config, settings, environment)
    source = Worlds(environment, config, seed)
    wanted = worlds + evaluation_worlds
    rows = list(islice(source.distinct(), wanted))
    if len(rows) < wanted:
        raise GdeError(
            f"environment {environment!r} has {len(rows)} distinct worlds, wanted {wanted}: ask for fewer"
        )
    weights = [float(trained == name) for name in functions]
    return GdeEnvironment(
        source,
        dataset=Dataset.from_list(rows[:worlds]),
        eval_dataset=Dataset.from_list(rows[worlds:]) if evaluation_worlds else None,
        rubric=vf.Rubric(funcs=list(functions.values()), weights=weights),
    )


def opening(task: Task, shown: Observation) -> str:
    """The first message of an episode: task, form of the answer, state."""
    parts = [
        task.rules,
        f"{task.objective}\nTake as few steps as you can.",
        _actions(shown.actions),
        'Answer every message with a JSON object and nothing else: {"action": "<your action>"}',
        f"Current state:\n{shown.text}",
    ]
    return "\n\n".join(part for part in parts if part)


def later(shown: Observation) -> str:
    """The state after a turn."""
    return f"Current state:\n{shown.text}\n\n{_actions(shown.actions)}"


def _actions(actions: Sequence[str] | None) -> str:
    if actions is None:
        return "Any text is an action."
    return f"Actions: {', '.join(actions)}"
