"""The form of an answer as a server is asked for it."""

import json

import pytest

from gde.data.completion import AnswerForm, ChatRequest, Message
from gde.data.tool_call import ToolCall, with_calls
from gde_plugins.language_models.server_forms import form_fields

ASK = Message(role="user", content="where?")
UP = ToolCall(name="act", arguments={"action": "UP"})


def form(kind: str, choices: tuple[str, ...] | None = ("UP", "DOWN")) -> AnswerForm:
    return AnswerForm(kind=kind, name="act", field="action", choices=choices)  # type: ignore[arg-type]


def request(answer: AnswerForm | None, *messages: Message) -> ChatRequest:
    return ChatRequest(messages=messages or (ASK,), seed=1, form=answer)


def test_free_text_has_no_fields() -> None:
    assert form_fields(request(None)) == {}


def test_any_json_is_json_mode() -> None:
    fields = form_fields(request(AnswerForm(kind="json")))
    assert fields == {"response_format": {"type": "json_object"}}


def test_a_schema_names_every_admissible_action() -> None:
    wanted = form_fields(request(form("schema")))["response_format"]
    assert wanted["type"] == "json_schema"
    schema = wanted["json_schema"]["schema"]
    assert schema["properties"] == {
        "action": {"type": "string", "enum": ["UP", "DOWN"]}
    }
    assert (schema["required"], schema["additionalProperties"]) == (["action"], False)


def test_any_text_has_no_list_of_actions() -> None:
    wanted = form_fields(request(form("schema", None)))["response_format"]
    assert wanted["json_schema"]["schema"]["properties"] == {
        "action": {"type": "string"}
    }


def test_a_tool_is_required_and_has_the_same_schema() -> None:
    fields = form_fields(request(form("tool")))
    (tool,) = fields["tools"]
    assert tool["type"] == "function"
    assert tool["function"]["name"] == "act"
    schema = form_fields(request(form("schema")))["response_format"]["json_schema"]
    assert tool["function"]["parameters"] == schema["schema"]
    assert fields["tool_choice"] == "required"


@pytest.mark.parametrize("n_calls", [1, 2])
def test_calls_of_earlier_turns_are_sent_with_their_results(n_calls: int) -> None:
    answer = Message(role="assistant", content=with_calls("So.", [UP] * n_calls))
    results = [Message(role="tool", content=f"result {i}") for i in range(n_calls)]
    plain = Message(role="assistant", content="UP")
    sent = form_fields(request(form("tool"), ASK, answer, *results, plain, ASK))
    asked, called, *answered, said, again = sent["messages"]
    assert asked == again == {"role": "user", "content": "where?"}
    assert said == {"role": "assistant", "content": "UP"}
    assert (called["role"], called["content"]) == ("assistant", "So.")
    names = [call["id"] for call in called["tool_calls"]]
    assert len(set(names)) == n_calls
    for call in called["tool_calls"]:
        assert call["function"]["name"] == "act"
        assert json.loads(call["function"]["arguments"]) == {"action": "UP"}
    assert answered == [
        {"role": "tool", "tool_call_id": name, "content": f"result {i}"}
        for i, name in enumerate(names)
    ]


def test_broken_arguments_are_sent_back_as_they_came() -> None:
    broken = ToolCall(name="act", arguments='{"action": "U')
    answer = Message(role="assistant", content=with_calls("", [broken]))
    result = Message(role="tool", content="hm")
    sent = form_fields(request(form("tool"), ASK, answer, result))["messages"]
    assert sent[1]["content"] is None
    assert sent[1]["tool_calls"][0]["function"]["arguments"] == '{"action": "U'
