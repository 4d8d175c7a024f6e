"""The agents: feedback, candidates, search, and what becomes of nonsense."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from playing import play

from gde.data.answer import Reading
from gde.data.completion import ChatRequest, Completion
from gde.data.reward import RewardTrace
from gde.data.trajectory import Trajectory
from gde.errors import ConfigError, GdeError
from gde.parts.agent import Brief
from gde.request.settings import build
from gde.testing import check_agent, check_plugin
from gde.testing.context import PlainContext
from gde.testing.parts import AnsweringModel, Corridor
from gde_plugins.planning_agents import plugin
from gde_plugins.planning_agents.answers import one_action, several_actions
from gde_plugins.planning_agents.config import (
    LookaheadConfig,
    MctsConfig,
    ReactConfig,
    ReactRewardConfig,
)
from gde_plugins.planning_agents.conversation import SHUT
from gde_plugins.planning_agents.effort import Effort
from gde_plugins.planning_agents.lookahead import Lookahead
from gde_plugins.planning_agents.mcts import Mcts
from gde_plugins.planning_agents.react import React
from gde_plugins.planning_agents.react_reward import ReactReward

RIGHT = "Thought: go.\nAction: RIGHT"
BOTH = "Thought: either.\nAction 1: LEFT\nAction 2: RIGHT"


def corridor() -> Corridor:
    return Corridor(8)


class Cells:
    """The agent's cell, as a share of the corridor; keeps what it was asked about."""

    def __init__(self, failure: str = "") -> None:
        self.failure = failure
        self.asked: list[Trajectory] = []

    async def rewards(self, trajectory: Trajectory) -> RewardTrace:
        self.asked.append(trajectory)
        cells = [
            (turn.observation.text.index("A") - 1) / 8 for turn in trajectory.turns
        ]
        values = np.empty(0) if self.failure else np.array(cells)
        return RewardTrace(
            model="cells",
            episode=str(trajectory.key),
            values=values,
            failure=self.failure,
        )


def asking(model: AnsweringModel | None, reward: Any = None) -> PlainContext:
    """The context of an agent with that model and that reward model."""
    models = {"nano": model} if model else {}
    return PlainContext(models=models, rewards={"statefactory": reward or Cells()})


def react(
    *answers: str | Callable[[ChatRequest], str], **config: Any
) -> tuple[React, AnsweringModel]:
    model = AnsweringModel(answers)
    return React(ReactConfig(**config), asking(model)), model


def rewarded(
    *answers: str | Callable[[ChatRequest], str], reward: Any = None, **config: Any
) -> tuple[ReactReward, AnsweringModel]:
    model = AnsweringModel(answers)
    return ReactReward(ReactRewardConfig(**config), asking(model, reward)), model


def mcts(
    reward: Any = None, model: AnsweringModel | None = None, **config: Any
) -> Mcts:
    named = {"model": "nano"} if model else {}
    return Mcts(MctsConfig(**{"budget": 12, **named, **config}), asking(model, reward))


def effort(detail: str) -> Effort:
    noted = Effort.noted(detail)
    assert noted is not None
    return noted


def test_the_plugin_keeps_the_contract() -> None:
    check_plugin(plugin)


@pytest.mark.parametrize(
    "offer", plugin.gde_agents(), ids=lambda offer: str(offer.name)
)
def test_the_agents_keep_the_contract_with_a_model_that_talks_nonsense(
    offer: Any,
) -> None:
    context = PlainContext()
    check_agent(lambda: offer.made(offer.config(), context), corridor, turns=3)


def test_a_thought_is_followed_by_its_action() -> None:
    agent, model = react(RIGHT)
    decisions = play(agent, corridor)
    assert {each.action for each in decisions} == {"RIGHT"}
    first, second = model.asked[0].messages, model.asked[1].messages
    assert "Reach the last cell." in first[0].content
    assert "- LEFT\n- RIGHT" in first[0].content
    assert [each.role for each in second] == ["user", "assistant", "user"]
    assert "Reach the last cell." not in second[-1].content
    assert effort(decisions[0].detail) == Effort(model_calls=1)


def test_mistakes_are_told_and_asked_about_again_at_most_so_often() -> None:
    agent, model = react("RIGHT", "Thought: up.\nAction: UP", RIGHT, retries=2)
    (decided,) = play(agent, corridor, turns=1)
    assert decided.action == "RIGHT"
    assert effort(decided.detail) == Effort(model_calls=3, malformed=1, inadmissible=1)
    assert "Invalid format" in model.asked[1].messages[-1].content
    assert "'UP' cannot be done here" in model.asked[2].messages[-1].content
    assert len({request.seed for request in model.asked}) == 3


def test_an_answer_that_goes_on_is_refused_or_read_up_to_there() -> None:
    talkative = f"{RIGHT}\nObservation: I won.\nAction: LEFT"
    (refused,) = play(react(talkative, retries=0)[0], corridor, turns=1)
    assert refused.status == "unparsable"
    agent, model = react(talkative, retries=0, rest="dropped")
    assert [each.action for each in play(agent, corridor, turns=2)] == ["RIGHT"] * 2
    assert model.asked[1].messages[1].content == RIGHT


def test_an_action_of_another_form_is_taken_and_the_rule_noted() -> None:
    agent, model = react("**Action:** RIGHT", retries=2)
    (decided,) = play(agent, corridor, turns=1)
    assert decided.detail.startswith("read by rule: marker; planning: ")
    assert effort(decided.detail) == Effort(model_calls=1)
    strict, model = react("**Action:** RIGHT", retries=2, strict=True)
    (decided,) = play(strict, corridor, turns=1)
    assert (decided.status, len(model.asked)) == ("unparsable", 3)


def test_all_turns_are_remembered_where_wanted() -> None:
    agent, model = react("Thought: back.\nAction: LEFT", history="all")
    play(agent, corridor, turns=5)
    assert [len(request.messages) for request in model.asked] == [1, 3, 5, 7, 9]


@pytest.mark.parametrize("retries", [0, 1, 4])
def test_nonsense_is_counted_and_uses_the_turn_up(retries: int) -> None:
    agent, model = react("nonsense", retries=retries)
    decisions = play(agent, corridor, turns=2)
    assert [each.status for each in decisions] == ["unparsable"] * 2
    assert effort(decisions[0].detail) == Effort(
        model_calls=retries + 1, malformed=retries + 1
    )
    assert len(model.asked) == 2 * (retries + 1)


def test_no_more_turns_are_shown_than_wanted() -> None:
    agent, model = react(RIGHT, history=2)
    play(agent, corridor, turns=5)
    assert len(model.asked[-1].messages) <= 5
    agent, model = react(RIGHT, history=0)
    play(agent, corridor, turns=3)
    assert {len(request.messages) for request in model.asked} == {1}


def test_an_example_has_the_form_that_is_asked_for() -> None:
    agent, model = rewarded(BOTH, RIGHT, example=True, history=0)
    actions = tuple(SHUT.actions or ())
    play(agent, corridor, turns=1)
    for request, read in zip(
        model.asked, (partial(several_actions, most=5), one_action), strict=True
    ):
        asked, answered, now = request.messages
        assert [asked.role, answered.role, now.role] == ["user", "assistant", "user"]
        assert "Reach the last cell." not in asked.content
        assert "Reach the last cell." in now.content
        said = Completion(text=answered.content, reasoning=None, finish="stop")
        wanted = ((actions, 0), Reading(action=actions[0]))
        assert read(said, actions) in wanted  # type: ignore[operator]


def test_candidates_are_tried_and_their_gains_told() -> None:
    agent, model = rewarded(BOTH, RIGHT, BOTH, RIGHT)
    (decided,) = play(agent, corridor, seed=4, turns=1)
    assert decided.action == "RIGHT"
    assert "RIGHT: +0.125" in model.asked[1].messages[-1].content
    assert (
        "LEFT: -0.125" in model.asked[1].messages[-1].content
        or "LEFT: +0.000" in model.asked[1].messages[-1].content
    )
    assert effort(decided.detail) == Effort(model_calls=2, simulator_steps=2, judged=3)


def test_the_largest_gain_can_decide_alone() -> None:
    agent, _ = rewarded(BOTH, choose="reward")
    decisions = play(agent, corridor)
    assert {each.action for each in decisions} == {"RIGHT"}
    assert all(effort(each.detail).model_calls == 1 for each in decisions)


def test_the_first_reward_is_that_of_a_trajectory_of_one_turn() -> None:
    reward = Cells()
    agent, _ = rewarded(BOTH, choose="reward", reward=reward, shown="path")
    play(agent, corridor, turns=2)
    lengths = [len(trajectory.turns) for trajectory in reward.asked]
    assert lengths == [1, 2, 2, 2, 3, 3]
    actions = [turn.decision.action for turn in reward.asked[-1].turns]
    assert actions == ["RIGHT", "RIGHT", None]
    assert all(
        trajectory.world.facts["objective"] == "Reach the last cell."
        for trajectory in reward.asked
    )


def test_a_state_is_judged_once_in_an_episode_where_the_path_plays_no_part() -> None:
    reward = Cells()
    play(mcts(reward, shown="state"), corridor)
    texts = [trajectory.turns[-1].observation.text for trajectory in reward.asked]
    assert len(texts) == len(set(texts)) <= 8
    assert {len(trajectory.turns) for trajectory in reward.asked} <= {1, 2}


def test_candidates_that_are_nonsense_use_the_turn_up() -> None:
    agent, _ = rewarded("nonsense", retries=1)
    (decided,) = play(agent, corridor, turns=1)
    assert decided.status == "unparsable"
    assert effort(decided.detail) == Effort(model_calls=2, malformed=2)


def test_a_reward_model_that_judges_nothing_is_named_with_its_reason() -> None:
    for agent in (
        rewarded(BOTH, reward=Cells("no opinion"))[0],
        mcts(Cells("no opinion")),
        lookahead(Cells("no opinion")),
    ):
        with pytest.raises(
            GdeError,
            match=r"reward model 'statefactory' judged no (candidate|state|plan): no opinion",
        ):
            play(agent, corridor, turns=1)


def test_a_language_model_can_imagine_where_an_action_leads() -> None:
    def says(request: ChatRequest) -> str:
        if not request.messages[0].content.startswith("You predict"):
            return BOTH
        return (
            "#______AG#"
            if request.messages[0].content.endswith("RIGHT\n\nNext observation:")
            else " "
        )

    agent, _ = rewarded(says, world="model", choose="reward")
    decisions = play(agent, corridor, turns=2)
    assert effort(decisions[0].detail).simulator_steps == 0
    assert effort(decisions[0].detail).model_calls == 3
    assert effort(decisions[0].detail).malformed == 1  # nothing was foreseen of LEFT
    assert decisions[0].action == "RIGHT"


def test_search_reaches_the_goal_by_the_shortest_way() -> None:
    for seed in range(4):
        decisions = play(mcts(), corridor, seed)
        assert {each.action for each in decisions} == {"RIGHT"}
        assert all(effort(each.detail).simulator_steps <= 12 for each in decisions)
        assert all(effort(each.detail).model_calls == 0 for each in decisions)


def test_without_a_budget_the_prior_decides_and_nothing_is_tried_or_judged() -> None:
    decisions = play(mcts(budget=0), corridor, turns=20)
    assert {each.action for each in decisions} == {"LEFT", "RIGHT"}
    assert effort(decisions[0].detail) == Effort()
    model = AnsweringModel(["Thought: back.\nAction 1: LEFT"])
    decisions = play(mcts(model=model, budget=0, prior="model"), corridor, turns=6)
    assert {each.action for each in decisions} == {"LEFT"}


def test_search_overrules_a_bad_prior() -> None:
    model = AnsweringModel(["Thought: back.\nAction 1: LEFT"])
    decisions = play(mcts(model=model, budget=200, prior="model"), corridor, turns=4)
    assert {each.action for each in decisions} == {"RIGHT"}


def test_a_prior_of_nonsense_is_counted_and_leaves_all_alike() -> None:
    model = AnsweringModel(["nonsense"])
    decisions = play(mcts(model=model, prior="model", retries=1), corridor)
    assert {each.action for each in decisions} == {"RIGHT"}
    assert effort(decisions[0].detail).malformed == 2


def test_the_imagination_is_searched_one_step_deep() -> None:
    def says(request: ChatRequest) -> str:
        return (
            "#_____A_G#"
            if request.messages[0].content.endswith("RIGHT\n\nNext observation:")
            else "#A______G#"
        )

    model = AnsweringModel([says])
    (decided,) = play(mcts(model=model, world="model", budget=30), corridor, turns=1)
    assert decided.action == "RIGHT"
    assert effort(decided.detail).model_calls == len(model.asked) == 2
    assert effort(decided.detail).simulator_steps == 0


def lookahead(reward: Any = None, **config: Any) -> Lookahead:
    return Lookahead(LookaheadConfig(**config), asking(None, reward))


def test_one_step_ahead_every_action_is_tried_once() -> None:
    for seed in range(4):
        decisions = play(lookahead(), corridor, seed)
        assert {each.action for each in decisions} == {"RIGHT"}
        spent = {effort(each.detail).simulator_steps for each in decisions}
        assert spent == {2}


def test_equal_ends_are_drawn() -> None:
    class Same(Cells):
        async def rewards(self, trajectory: Trajectory) -> RewardTrace:
            trace = await super().rewards(trajectory)
            return replace(trace, values=np.zeros(len(trace.values)))

    decisions = play(lookahead(Same()), corridor, turns=20)
    assert {each.action for each in decisions} == {"LEFT", "RIGHT"}


def test_the_best_of_random_plans_is_followed_to_its_end() -> None:
    """Its end counts, not its way: nearly always it is three steps to the right."""
    agent = lookahead(plans=60, depth=3)
    decisions = play(agent, partial(Corridor, 40), turns=6)
    tried = [effort(each.detail).judged for each in decisions]
    assert tried == [60, 0, 0, 60, 0, 0]
    assert [each.action for each in decisions] == ["RIGHT"] * 6


def test_steps_without_plans_are_refused() -> None:
    wanted = "^agent: wanted random plans in agent.plans, because agent.depth is 3, got none$"
    with pytest.raises(ConfigError, match=wanted):
        build(LookaheadConfig, {"depth": 3}, "agent")


@pytest.mark.parametrize("field", ["prior", "world"])
def test_a_model_that_is_needed_is_asked_for(field: str) -> None:
    wanted = "^agent: wanted a language model in agent.model, because agent.prior or agent.world is model, got none$"
    with pytest.raises(ConfigError, match=wanted):
        build(MctsConfig, {field: "model"}, "agent")


def test_without_a_simulator_there_is_one_clear_message() -> None:
    world = corridor()
    world.reset(0)
    with pytest.raises(
        GdeError, match=r"needs a simulator of its world, or agent\.world=model"
    ):
        mcts().begin(Brief(task=world.task(), seed=0))


def test_equal_seeds_search_alike_and_others_do_not() -> None:
    def actions(seed: int) -> list[str | None]:
        agent = mcts(budget=0)
        world = corridor()
        shown = world.reset(0)
        agent.begin(Brief(task=world.task(), seed=seed, simulator=_still(world)))
        return [asyncio.run(agent.act(shown)).action for _ in range(16)]

    assert actions(1) == actions(1) != actions(2)


def _still(world: Corridor) -> Any:
    from gde.testing.simulator import simulator

    return simulator(world, Corridor(8), 0)
