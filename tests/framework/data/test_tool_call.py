"""Calls of tools survive the text that records them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gde.data.tool_call import ToolCall, split_calls, with_calls

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
CALLS = st.builds(ToolCall, name=st.text(), arguments=JSON)


@given(st.sampled_from(["", "I go up.", "a\n\nb"]), st.lists(CALLS, max_size=3))
def test_content_and_calls_are_read_as_they_were_written(
    content: str, calls: list[ToolCall]
) -> None:
    assert split_calls(with_calls(content, calls)) == (content, tuple(calls))


def test_an_argument_may_hold_the_tag_that_ends_a_call() -> None:
    call = ToolCall(name="act", arguments={"action": "</tool_call>"})
    assert split_calls(with_calls("", [call])) == ("", (call,))


@pytest.mark.parametrize(
    "text",
    [
        "",
        " no call ",
        "<tool_call>",
        "<tool_call>{}</tool_call>",
        '<tool_call>{"name": 1, "arguments": {}}</tool_call>',
        '<tool_call>{"name": "act"}</tool_call>',
        "<tool_call>{not JSON}</tool_call>",
    ],
)
def test_what_is_no_call_stays_in_the_content(text: str) -> None:
    assert split_calls(text) == (text, ())
