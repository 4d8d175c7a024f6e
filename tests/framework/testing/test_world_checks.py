"""The kit's worlds, judge and agents keep every promise, and the check names what their
broken counterfactuals break.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest
from dictating import Dictation
from judging import Judge, appraise
from odd_parts import AdvisedAgent, Copyist, SlowCorridor
from promised import caught
from recipe_world import Recipe

from gde.data.completion import ChatRequest, Message
from gde.data.goals import Goals
from gde.data.observation import Observation, Optimum, Outcome
from gde.data.reward import Rewards
from gde.data.trajectory import Decision
from gde.data.transcript import Transcript
from gde.testing import check_agent, check_environment, check_reward_model
from gde.testing.parts import PlantedModel, ScriptedModel

TEXTS = ("<>", "two\nlines", "long" * 3000)


def test_the_worlds_keep_every_promise() -> None:
    check_environment(Recipe)
    check_environment(Redrawn)
    check_environment(Dictation, actions=TEXTS)
    check_environment(lambda: SlowCorridor(4, 0.0))


def test_the_agents_and_the_judge_keep_every_promise() -> None:
    check_agent(Copyist, Dictation)
    check_agent(lambda: AdvisedAgent(PlantedModel(), adviser=ScriptedModel(appraise)))
    check_reward_model(lambda: Judge(ScriptedModel(appraise)))


class Guessing(Recipe):
    """Its expert would do what cannot be done."""

    def optimum(self) -> Optimum:
        return replace(super().optimum(), actions=("FINISH",))


class Helpful(Recipe):
    """Its expert does it at once."""

    def optimum(self) -> Optimum:
        found = super().optimum()
        if found.actions:
            self.step(found.actions[0])
        return found


class Misleading(Recipe):
    """Its expert leaves the last step out."""

    def demonstration(self) -> tuple[str, ...]:
        return super().demonstration()[:-1]


class Rehearsing(Recipe):
    """Takes the first step of what it shows."""

    def demonstration(self) -> tuple[str, ...]:
        shown = super().demonstration()
        self.step(shown[0])
        return shown


@dataclass
class Forgetful(Recipe):
    """Is shuffled anew whenever it begins, so that no replay leads back."""

    begun: int = field(default=0, init=False)

    def reset(self, seed: int) -> Observation:
        self.begun += 1
        return super().reset(seed + self.begun)


@dataclass
class Grudging(Recipe):
    """Remembers what was done before it was put back."""

    taken: int = field(default=0, init=False)

    def step(self, action: str) -> Outcome:
        self.taken += 1
        return replace(super().step(action), reward=float(self.taken))


class Lenient(Recipe):
    """Takes any word for a step."""

    def step(self, action: str) -> Outcome:
        return super().step(action if action in self._steps else "STEP0")


class OneLine(Dictation):
    """Takes one line at a time."""

    def step(self, action: str) -> Outcome:
        if "\n" in action:
            raise ValueError("one line, please")
        return super().step(action)


class Short(Dictation):
    """Has room for little."""

    def step(self, action: str) -> Outcome:
        if len(action) > 80:
            raise ValueError("too long")
        return super().step(action)


class Redrawn(Recipe):
    """Might as well have been the other way round."""

    def goals(self) -> Goals:
        both = sorted([" ".join(self._order), " ".join(self._order[::-1])])
        return Goals.weighted(dict.fromkeys(both, 1.0), " ".join(self._order))

    def set_goal(self, goal: str) -> Observation:
        if goal not in self.goals().probabilities:
            raise ValueError(f"wanted the recipe or its reverse, got {goal!r}")
        self._order = tuple(goal.split())
        self._done = 0
        return self._observe()


class Deaf(Redrawn):
    """Sticks to its goal."""

    def set_goal(self, goal: str) -> Observation:
        order = self._order
        super().set_goal(goal)
        self._order = order
        return self._observe()


class Obliging(Redrawn):
    """Takes anything for a goal."""

    def set_goal(self, goal: str) -> Observation:
        return super().set_goal(goal) if goal.startswith("step") else self._observe()


class Partial(Redrawn):
    """Thinks its own goal the likelier one."""

    def goals(self) -> Goals:
        goals = super().goals()
        weights = {name: 1.0 + (name == goals.present) for name in goals.probabilities}
        return Goals.weighted(weights, goals.present)


class Wavering(Redrawn):
    """Turns round whenever it is asked."""

    def goals(self) -> Goals:
        self._order = self._order[::-1]
        return super().goals()


class Curt(Redrawn):
    """Offers less with a new goal."""

    def set_goal(self, goal: str) -> Observation:
        shown = super().set_goal(goal)
        return replace(shown, actions=(shown.actions or ())[:1])


class Advanced(Redrawn):
    """Takes the first step of a new goal."""

    def set_goal(self, goal: str) -> Observation:
        super().set_goal(goal)
        return self.step(self._order[0]).observation


BROKEN_WORLDS = [
    (Deaf, "set_goal must make the goal the present one"),
    (Obliging, "set_goal must raise ValueError for no such goal"),
    (Partial, r"goals\(\) must give the same probabilities with goal"),
    (Wavering, "set_goal must make the goal the present one"),
    (Curt, "set_goal must leave the first actions"),
    (Advanced, "set_goal with the present goal must begin the same episode"),
    (Guessing, "optimal actions must be admissible, got .'FINISH'"),
    (Helpful, r"optimum\(\) must not change the world"),
    (Misleading, r"demonstration\(\) must reach the whole goal, seed 0 does not"),
    (Rehearsing, r"demonstration\(\) must not change the world"),
    (
        Forgetful,
        "the same seed and actions must give the same episode after another reset",
    ),
    (Grudging, "the same episode after another reset"),
    (Lenient, "step must raise ValueError for an action that is not admissible"),
    (
        OneLine,
        r"where no actions are listed, step must take any text, e\.g\. 'a first line.*one line, please",
    ),
    (
        Short,
        r"where no actions are listed, step must take any text, e\.g\. 'long.* 100000 characters; got .*too long",
    ),
]


@pytest.mark.parametrize(("make", "promise"), BROKEN_WORLDS)
def test_a_broken_promise_of_a_world_is_named(
    make: Callable[[], Recipe], promise: str
) -> None:
    with caught(make.__name__, promise):
        check_environment(make, actions=("<>",))


class Tired(Judge):
    """Is stricter with every episode."""

    judged = 0

    async def rewards(self, transcript: Transcript) -> Rewards:
        self.judged += 1
        trace = await super().rewards(transcript)
        return replace(trace, values=trace.values / self.judged)


class Halved(Judge):
    """Judges every other turn."""

    async def rewards(self, transcript: Transcript) -> Rewards:
        trace = await super().rewards(transcript)
        return replace(trace, values=trace.values[::2])


@pytest.mark.parametrize(
    ("counterfactual", "promise"),
    [(Tired, "in any order"), (Halved, "one a step, or none")],
)
def test_a_broken_promise_of_a_judge_is_named(
    counterfactual: type[Judge], promise: str
) -> None:
    with caught(counterfactual.__name__, promise):
        check_reward_model(lambda: counterfactual(ScriptedModel(appraise)))


def test_a_judge_that_cannot_read_the_answer_says_so_and_keeps_the_contract() -> None:
    check_reward_model(lambda: Judge(ScriptedModel(lambda _: "quite far")))


@dataclass
class Gossip(ScriptedModel):
    """Says something else every time."""

    asked: int = 0

    async def complete(self, request: ChatRequest):  # type: ignore[no-untyped-def]
        self.asked += 1
        return replace(await super().complete(request), text=f"advice {self.asked}")


class Followers(AdvisedAgent):
    """Does what it is told, word by word."""

    async def act(self, observation: Observation) -> Decision:
        decision = await super().act(observation)
        advice = await self.adviser.complete(
            ChatRequest(messages=(Message(role="user", content="?"),), seed=0)
        )
        return Decision.unusable("empty", advice.text, decision.completion)


def test_an_agent_whose_adviser_is_no_function_of_the_request_is_found_out() -> None:
    adviser = Gossip()
    with caught("Followers", "an agent must be a function of its seed"):
        check_agent(lambda: Followers(PlantedModel(), adviser=adviser))
