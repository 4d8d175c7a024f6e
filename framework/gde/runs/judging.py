"""A reward model that is asked beside runs: by a planner, a training, or for a file."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from threading import Thread, current_thread
from typing import Any
from weakref import finalize

from gde.before.preparing import prepare_alone
from gde.data.arrays import Doubles
from gde.data.how import How
from gde.data.json import Json
from gde.data.plan import Choice
from gde.data.reward import Rewards
from gde.data.trajectory import Trajectory
from gde.data.transcript import Step, Transcript
from gde.errors import ConfigError, GdeError
from gde.parts.reward_model import given
from gde.stages.context import Resources
from gde.stages.rewarding import check_rewards

Steps = Trajectory | Transcript | Iterable[Step | tuple[str, str]]
"""A trajectory; of pairs, each is an action and the observation after it."""


class AskedReward:
    """Implements `gde.parts.reward_model.RewardModel`, and is called as a function.

    It may be called in any thread, inside and outside of event loops and runs. What a
    language model has answered once is not asked again. Copies are the object itself;
    another process makes its own.
    """

    def __init__(self, choice: Choice, how: How | None) -> None:
        self._given = (choice, how)
        alone = prepare_alone("reward_model", choice, how)
        self._chosen = alone.part
        self._resources = Resources(alone)
        scope = self._resources.models.scope(f"reward model {self.name}")
        self._model = self._resources.make(self._chosen, scope)

    def __call__(
        self, goal: str, trajectory: Steps, *, start: str = "", domain: str = ""
    ) -> Doubles:
        """The rewards of a trajectory.

        Args:
            goal: in words; empty for that of a trajectory or transcript.
            trajectory: T steps.
            start: the observation before the first action.
            domain: of the world, for reward models that read each in its own way.

        Returns:
            (T,) rewards; that of a step values its observation.

        Raises:
            GdeError: it gives none, or none that are finite, one a step.
        """
        work = self.ask(goal, trajectory, start=start, domain=domain)
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def ask(
        self, goal: str, trajectory: Steps, *, start: str = "", domain: str = ""
    ) -> Doubles:
        """As a call, without blocking the event loop."""
        shown = _shown(goal, trajectory, start, domain)
        found = await self.rewards(shown)
        if found.failure:
            raise GdeError(f"reward model {self.name}: {found.failure}")
        return found.values

    async def rewards(self, transcript: Transcript) -> Rewards:
        """The rewards of a transcript, or the reason why there are none."""
        work = asyncio.run_coroutine_threadsafe(self._judged(transcript), self._loop)
        return await asyncio.wrap_future(work)

    def begin(self, goal: str, *, start: str = "", domain: str = "") -> "SteppedReward":
        """A trajectory that is judged step by step."""
        empty = Transcript(objective=goal, steps=(), start=start, domain=domain)
        return SteppedReward(self, empty)

    @property
    def name(self) -> str:
        """Of the reward model."""
        return self._chosen.label

    def close(self) -> None:
        """Release its language models."""
        self._resources.close()
        if "_loop" in self.__dict__:
            self._end()
            del self._loop

    def __reduce__(self) -> tuple[Any, ...]:
        return AskedReward, self._given

    def __deepcopy__(self, memo: object) -> "AskedReward":
        return self

    @cached_property
    def _loop(self) -> asyncio.AbstractEventLoop:
        """Of its own, since clients of servers belong to one loop."""
        loop = asyncio.new_event_loop()
        thread = Thread(target=_serve, args=(loop,), name="gde-reward", daemon=True)
        thread.start()
        # Whoever does not close it drops it, or ends with it.
        self._end = finalize(self, _end, loop, thread)
        return loop

    async def _judged(self, transcript: Transcript) -> Rewards:
        try:
            found = given(await self._model.rewards(transcript))
            check_rewards(found, len(transcript.steps))
        except GdeError:
            raise
        except Exception as error:
            return Rewards(failure=f"{type(error).__name__}: {error}")
        return found


class SteppedReward:
    """A trajectory that is judged step by step; earlier answers are not asked again."""

    def __init__(self, model: AskedReward, transcript: Transcript) -> None:
        self._model = model
        self.transcript = transcript
        """As far as it was judged."""

    def step(self, action: str, observation: str) -> float:
        """The reward of the next step.

        Raises:
            GdeError: there is none.
        """
        steps = (*self.transcript.steps, Step(action, observation))
        self.transcript = replace(self.transcript, steps=steps)
        return float(self._model("", self.transcript)[-1])


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    """Run a loop until it is stopped, then close the connections that it opened."""
    loop.run_forever()
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


def _end(loop: asyncio.AbstractEventLoop, thread: Thread) -> None:
    loop.call_soon_threadsafe(loop.stop)
    # Garbage may be collected in the thread itself.
    if thread is not current_thread():
        thread.join()


def reward_model(what: Any, *, how: How | None = None, **settings: Json) -> AskedReward:
    """A reward model to be asked by one's own planner, training or script.

    Its answers are its own, not those of a run in which an agent asks it.

    `reward_model("judge", model="openai:NAME@URL")(goal, [(action, observation), ...])`

    Args:
        what: a name, an offer or a `Choice`; or a function of the transcript, or of
            goal, observation and action.
        how: its answers' cache and limits, e.g. `How(cache="answers.sqlite",
            max_calls=1000)`; None for the user's settings.
        settings: of its configuration, e.g. its language `model`.

    Raises:
        GdeError: there is no such reward model or setting, or it needs the truth.
    """
    choice = Choice.of(what)
    return AskedReward(replace(choice, config={**choice.config, **settings}), how)


def _shown(goal: str, trajectory: Steps, start: str, domain: str) -> Transcript:
    if isinstance(trajectory, Trajectory):
        trajectory = Transcript.of(trajectory)
    if isinstance(trajectory, Transcript):
        return replace(
            trajectory,
            objective=goal or trajectory.objective,
            start=start or trajectory.start,
            domain=domain or trajectory.domain,
        )
    steps = []
    for n, each in enumerate(trajectory):
        match each:
            case Step() | (str(), str()):
                steps.append(each if isinstance(each, Step) else Step(*each))
            case _:
                raise ConfigError(
                    f"step {n}: wanted an action and the observation after it, got {each!r}"
                )
    return Transcript(objective=goal, steps=tuple(steps), start=start, domain=domain)
