"""What the agent asks, and what it makes of the answers."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from gde.before.preparing import prepare
from gde.data.completion import ChatRequest, Completion, Sampling, WeighedCompletion
from gde.data.observation import Observation, Task
from gde.data.plan import Choice, Plan
from gde.data.stated_map import answer_noted
from gde.data.tool_call import ToolCall, with_calls
from gde.data.trajectory import Decision
from gde.errors import ConfigError, GdeError
from gde.offers import Capability
from gde.parts.agent import Agent, Brief, HasActionProbabilities
from gde.request.settings import build
from gde.testing import check_agent, check_plugin
from gde.testing.context import PlainContext
from gde.testing.parts import AnsweringModel, Corridor
from gde_plugins.text_agent import plugin
from gde_plugins.text_agent.agent import TextAgent
from gde_plugins.text_agent.config import TextAgentConfig
from gde_plugins.text_agent.plugin import gde_agents
from gde_plugins.text_agent.prompts import NOT_TAKEN, map_question

MOVES = ("UP", "DOWN", "LEFT", "RIGHT")
GRID = "  0 1 2 \n0 # # # \n1 # A G \n2 # # # "
TASK = Task(objective="Move A to G.", horizon=9, rules="Walls stop you.", actions=MOVES)
SEEN = Observation(text=GRID, actions=MOVES)


def asking(model: AnsweringModel) -> PlainContext:
    return PlainContext(models={"nano": model})


def play(
    model: AnsweringModel,
    turns: int = 1,
    observation: Observation = SEEN,
    task: Task = TASK,
    seed: int = 3,
    **config: Any,
) -> list[Decision]:
    agent = TextAgent(TextAgentConfig(**config), asking(model))
    agent.begin(Brief(task=task, seed=seed))

    async def act() -> list[Decision]:
        return [await agent.act(observation) for _ in range(turns)]

    return asyncio.run(act())


@pytest.fixture
def up() -> Iterator[AnsweringModel]:
    yield AnsweringModel(['{"action": "UP"}'])


def test_the_plugin_keeps_the_contract() -> None:
    check_plugin(plugin)


def test_the_agent_keeps_the_contract() -> None:
    model = AnsweringModel(['{"action": "RIGHT"}'])
    check_agent(lambda: TextAgent(TextAgentConfig(history=1), asking(model)), Corridor)


def test_an_agent_that_states_maps_keeps_the_contract() -> None:
    model = AnsweringModel(['{"action": "RIGHT"}'])
    config = TextAgentConfig(map_query=True)
    check_agent(lambda: TextAgent(config, asking(model)), Corridor)


def test_the_offer_makes_an_agent_that_gives_activations() -> None:
    (offer,) = gde_agents()
    assert offer.name == "gpt-oss"
    assert offer.gives == {
        Capability.ACTIVATIONS,
        Capability.ACTION_PROBS,
        Capability.INTERVENTIONS,
    }
    assert isinstance(offer.made(offer.config(), PlainContext()), Agent)
    assert offer.config().model == "nano"


def test_sampling_is_as_published(up: AnsweringModel) -> None:
    decisions = play(up)
    assert decisions[0].action == "UP"
    assert decisions[0].completion is not None
    assert up.asked[0].sampling == Sampling(
        temperature=0.7, top_p=0.95, max_tokens=10_000
    )
    assert up.asked[0].effort == "low"


def test_sampling_can_be_chosen(up: AnsweringModel) -> None:
    play(up, temperature=0.0, top_p=0.5, max_tokens=7, effort="high")
    assert up.asked[0].sampling == Sampling(temperature=0.0, top_p=0.5, max_tokens=7)
    assert up.asked[0].effort == "high"


def test_seeds_differ_by_turn_and_episode_and_repeat(up: AnsweringModel) -> None:
    for seed in (3, 3, 4):
        play(up, turns=3, seed=seed)
    seeds = [request.seed for request in up.asked]
    assert seeds[:3] == seeds[3:6]
    assert len(set(seeds)) == 6


def test_the_paper_style_says_all_that_is_published(up: AnsweringModel) -> None:
    play(up, style="paper")
    (message,) = up.asked[0].messages
    assert message.role == "user"
    wanted = [
        "You are an agent",
        "Walls stop you.",
        "Move A to G.",
        "few steps",
    ]
    wanted += [
        "- UP\n- DOWN\n- LEFT\n- RIGHT",
        "no code fences",
        '{"action": "<UP|DOWN|LEFT|RIGHT>"}',
    ]
    places = [message.content.find(part) for part in wanted]
    assert -1 not in places
    assert places == sorted(places)
    assert message.content.endswith(f"Current state:\n{GRID}")


def test_worlds_of_text_are_asked_in_the_same_way(up: AnsweringModel) -> None:
    task = Task(objective="Find the key.", horizon=5)
    commands = tuple(f"go to room number {number}" for number in range(12))
    play(up, observation=Observation(text="A hall.", actions=commands), task=task)
    text = up.asked[0].messages[0].content
    assert "# Rules" not in text
    assert all(f"- {command}\n" in text for command in commands)
    assert '{"action": "<one of the actions above>"}' in text
    assert text.endswith("Current state:\nA hall.")


def test_free_worlds_take_commands() -> None:
    model = AnsweringModel(['{"action": "open door"}'])
    decisions = play(model, observation=Observation(text="A hall."))
    assert decisions[0].action == "open door"
    assert '{"action": "<your command>"}' in model.asked[0].messages[0].content


def test_the_compact_style_is_what_nano_is_trained_on(up: AnsweringModel) -> None:
    play(up, style="compact")
    (message,) = up.asked[0].messages
    assert (
        message.content
        == "Go from A to G by the shortest way; # is wall, _ is free.\n" + GRID
    )


@pytest.mark.parametrize(
    "beside", ["\nCarrying key: False", "\n\nYou carry nothing.\n"]
)
def test_the_compact_style_shows_the_matrix_alone(
    up: AnsweringModel, beside: str
) -> None:
    play(
        up, style="compact", observation=Observation(text=GRID + beside, actions=MOVES)
    )
    assert up.asked[0].messages[0].content.endswith("\n" + GRID)


@pytest.mark.parametrize(
    ("name", "embedded"),
    [
        ("nano", True),
        ("nano:plain", True),
        ("nanotech", False),
        ("hf:elsewhere/nano", False),
        ("openai:http://x", False),
    ],
)
def test_style_and_effort_follow_the_model(name: str, embedded: bool) -> None:
    model = AnsweringModel(['{"action": "UP"}'], name=name)
    play(model)
    assert model.asked[0].messages[0].content.startswith("Go from A to G") == embedded
    assert model.asked[0].effort == ("medium" if embedded else "low")


def test_without_history_every_turn_stands_alone(up: AnsweringModel) -> None:
    play(up, turns=3)
    assert [len(request.messages) for request in up.asked] == [1, 1, 1]
    assert len({request.messages for request in up.asked}) == 1


def test_history_shows_the_last_turns_and_explains_once() -> None:
    model = AnsweringModel(['{"action": "UP"}', "what?", '{"action": "LEFT"}'])
    play(model, turns=4, history=2)
    assert [len(request.messages) for request in model.asked] == [1, 3, 5, 5]
    last = model.asked[-1].messages
    assert [message.role for message in last] == [
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    assert [message.content for message in last[1::2]] == [
        "what?",
        '{"action": "LEFT"}',
    ]
    assert last[0].content.startswith("You are an agent")
    assert [message.content for message in last[2::2]] == [
        f"Current state:\n{GRID}"
    ] * 2


def test_an_error_of_the_model_is_a_decision_and_leaves_no_memory() -> None:
    model = AnsweringModel([GdeError("server on fire"), '{"action": "UP"}'])
    first, second = play(model, turns=2, history=3)
    assert (first.status, first.detail, first.completion) == (
        "error",
        "server on fire",
        None,
    )
    assert second.action == "UP"
    assert len(model.asked[1].messages) == 1
    assert model.asked[0].seed != model.asked[1].seed


def test_another_form_is_read_unless_the_reading_is_strict() -> None:
    model = AnsweringModel(['```json\n{"action": "UP"}\n```'])
    (decision,) = play(model)
    assert (decision.action, decision.detail) == ("UP", "read by rule: json")
    (decision,) = play(model, strict=True)
    assert (decision.status, decision.action) == ("unparsable", None)


def test_all_turns_are_remembered_where_wanted(up: AnsweringModel) -> None:
    play(up, turns=12, history="all")
    assert [len(request.messages) for request in up.asked] == [*range(1, 24, 2)]


@pytest.mark.parametrize("form", ["json", "text", "schema", "tools"])
def test_the_prompt_asks_for_the_form_that_is_read(form: str) -> None:
    model = AnsweringModel(["UP"], name="openai:x")
    play(model, actions=form)
    (request,) = model.asked
    wanted = {
        "json": "JSON object of this form and with nothing else",
        "text": "The last line of your answer is the action",
        "schema": "JSON object of this form and with nothing else",
        "tools": "Call the function act once",
    }
    assert wanted[form] in request.messages[0].content
    kinds = {"schema": "schema", "tools": "tool"}
    if form not in kinds:
        assert request.form is None
        return
    assert request.form is not None
    assert (request.form.kind, request.form.choices) == (kinds[form], MOVES)


def test_the_identity_of_a_request_in_json_is_that_of_older_records(
    up: AnsweringModel,
) -> None:
    play(up, style="paper")
    play(up, style="paper", actions="schema")
    free, schema = up.asked
    assert free.messages == schema.messages
    assert free.identity != schema.identity
    assert replace(schema, form=None).identity == free.identity


def test_the_result_of_a_call_is_the_next_observation() -> None:
    call = with_calls("", [ToolCall(name="act", arguments={"action": "UP"})])
    two = with_calls("", [ToolCall(name="act", arguments={"action": "UP"})] * 2)
    model = AnsweringModel([call, "UP", two, call])
    decisions = play(model, turns=4, history="all", actions="tools")
    last = model.asked[-1].messages
    roles = [message.role for message in last]
    assert roles[:4] == ["user", "assistant", "tool", "assistant"]
    assert roles[4:] == ["user", "assistant", "tool", "tool"]
    contents = [message.content for message in last]
    assert contents[1::2][:3] == [call, "UP", two]
    assert contents[6] == NOT_TAKEN
    assert contents[2] == contents[4] == contents[7] == f"Current state:\n{GRID}"
    assert [one.action for one in decisions] == ["UP"] * 4
    assert [one.detail for one in decisions[:2]] == ["", "read by rule: whole answer"]


def test_a_question_in_words_has_no_form() -> None:
    model = AnsweringModel(['{"action": "UP"}', "a map"])
    play(model, actions="schema", map_query=True)
    assert [request.form is None for request in model.asked] == [False, True]
    with pytest.raises(ConfigError, match=r"map_query asks in words, got tools"):
        build(TextAgentConfig, {"actions": "tools", "map_query": True}, "agent")


@pytest.mark.parametrize("form", ["schema", "tools"])
@pytest.mark.parametrize("model", ["nano", "hf:/nowhere"])
def test_only_a_served_model_is_asked_for_a_form(model: str, form: str) -> None:
    config = {"model": model, "actions": form}
    plan = Plan(
        environment=Choice(name="grid"), agent=Choice(name="gpt-oss", config=config)
    )
    with pytest.raises(
        GdeError, match=f"keeps to a form of answers.*{model!r} does not"
    ):
        prepare(plan)
    served = {**config, "model": "openai:http://127.0.0.1:1/v1"}
    prepare(replace(plan, agent=Choice(name="gpt-oss", config=served)))
    free = {"model": "nano", "actions": "text"}
    prepare(replace(plan, agent=Choice(name="gpt-oss", config=free)))


class Telling(AnsweringModel):
    """Tells all its scripted answers, each as probable as the others."""

    async def completions(
        self, request: ChatRequest, least: float
    ) -> list[WeighedCompletion]:
        self.asked.append(request)
        share = 1 / len(self.answers)
        told = [
            Completion(text=str(answer), reasoning=None, finish="stop")
            for answer in self.answers
        ]
        return [
            WeighedCompletion(completion=each, probability=share)
            for each in told
            if share >= least
        ]


def test_probabilities_of_an_action_are_added_up_and_unusable_answers_are_none() -> (
    None
):
    up, left = '{"action": "UP"}', '{"action": "LEFT"}'
    model = Telling([up, left, "sideways", '{"action": "up"}'])
    agent = TextAgent(TextAgentConfig(), asking(model))
    agent.begin(Brief(task=TASK, seed=3))
    assert isinstance(agent, HasActionProbabilities)
    assert asyncio.run(agent.action_probabilities(SEEN, 0.01)) == {
        "UP": 0.5,
        "LEFT": 0.25,
    }
    asyncio.run(agent.act(SEEN))
    assert model.asked[0] == model.asked[1], "telling is no turn"


def test_a_turn_keeps_probabilities_where_they_are_asked_for() -> None:
    model = Telling(['{"action": "UP"}', '{"action": "LEFT"}'])
    agent = TextAgent(TextAgentConfig(probabilities=True), asking(model))
    agent.begin(Brief(task=TASK, seed=3))
    decision = asyncio.run(agent.act(SEEN))
    assert decision.probabilities == {"UP": 0.5, "LEFT": 0.5}
    assert model.asked[0] == model.asked[1], "both are of the same turn"
    silent = TextAgent(
        TextAgentConfig(probabilities=True), asking(AnsweringModel(["{}"]))
    )
    silent.begin(Brief(task=TASK, seed=3))
    assert "cannot enumerate its answers" in asyncio.run(silent.act(SEEN)).detail


def test_a_model_that_does_not_tell_is_named() -> None:
    agent = TextAgent(TextAgentConfig(), asking(AnsweringModel(["{}"])))
    agent.begin(Brief(task=TASK, seed=3))
    with pytest.raises(
        GdeError, match="model 'answering' cannot enumerate its answers"
    ):
        asyncio.run(agent.action_probabilities(SEEN, 0.01))


def test_no_map_is_asked_for_unless_wanted(up: AnsweringModel) -> None:
    (decision,) = play(up)
    assert len(up.asked) == 1
    assert decision.detail == ""


def test_the_map_is_asked_for_after_the_action_and_then_forgotten() -> None:
    model = AnsweringModel(['{"action": "UP"}', "a map", '{"action": "UP"}', "none"])
    first, second = play(model, turns=2, map_query=True, history=1)
    assert (first.action, answer_noted(first.detail)) == ("UP", ("a map", 0))
    assert answer_noted(second.detail) == ("none", 0)
    assert first.completion is not None
    assert first.completion.text == '{"action": "UP"}'

    acting, asking, later, _ = model.asked
    assert asking.messages[:1] == acting.messages
    assert [one.role for one in asking.messages] == ["user", "assistant", "user"]
    assert asking.messages[1].content == '{"action": "UP"}'
    assert asking.messages[2].content == map_question(0)
    assert asking.seed != acting.seed
    assert asking.sampling == acting.sampling
    assert not [one for one in later.messages if one.content == map_question(0)]
    assert not [one for one in later.messages if one.content == "a map"]


def test_an_earlier_map_is_asked_for_where_there_was_one() -> None:
    model = AnsweringModel(['{"action": "UP"}', '{"action": "UP"}', "a map"])
    first, second = play(model, turns=2, map_query=True, map_query_age=1)
    assert answer_noted(first.detail) is None
    assert answer_noted(second.detail) == ("a map", 1)
    *_, asking = model.asked
    assert (
        "as you believe it was one turn before this one." in asking.messages[2].content
    )


def test_asking_for_the_map_changes_no_action_request() -> None:
    plain = AnsweringModel(['{"action": "UP"}'])
    play(plain, turns=2)
    asked = AnsweringModel(['{"action": "UP"}'])
    play(asked, turns=2, map_query=True)
    assert [one.identity for one in asked.asked[::2]] == [
        one.identity for one in plain.asked
    ]


def test_an_unusable_answer_keeps_its_reason_beside_the_map() -> None:
    model = AnsweringModel(["sideways", "a map"])
    (decision,) = play(model, map_query=True)
    assert decision.status == "unparsable"
    assert decision.detail.startswith("found no action in 'sideways'")
    assert answer_noted(decision.detail) == ("a map", 0)


def test_an_error_of_the_question_is_one_of_the_turn() -> None:
    model = AnsweringModel(['{"action": "UP"}', GdeError("the prompt is too long")])
    (decision,) = play(model, map_query=True)
    assert (decision.status, decision.detail) == ("error", "the prompt is too long")
