"""Maps stated in words: what is read, and what is refused with which flaw."""

import json

import numpy as np
import pytest

from gde.data.cell_map import KINDS
from gde.data.stated_map import Unstated, answer_noted, noted, read_stated

ROWS = [["wall", "agent"], ["empty", "goal"]]
CODES = [[3, 1], [0, 2]]


def test_the_note_follows_the_reason_of_an_unusable_answer() -> None:
    assert answer_noted(noted("", "hello")) == ("hello", 0)
    assert noted("no JSON", "hello").startswith("no JSON; ")
    assert answer_noted(noted("no JSON", "hello", age=2)) == ("hello", 2)
    assert answer_noted(noted("", "")) == ("", 0)


def test_a_detail_without_a_note_tells_that_nobody_asked() -> None:
    assert answer_noted("") is None
    assert answer_noted("no JSON") is None


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"map": ROWS}),
        f"```json\n{json.dumps({'map': ROWS})}\n```",
        json.dumps({"map": [["Wall", " agent"], ["EMPTY", "goal"]]}),
    ],
)
def test_words_become_kinds_of_cells(text: str) -> None:
    np.testing.assert_array_equal(read_stated(text, KINDS, (2, 2)), CODES)


@pytest.mark.parametrize(
    ("text", "flaw", "wanted"),
    [
        ("  ", "empty", "empty answer"),
        ('{"action": "UP"}', "form", "wanted a JSON object"),
        ("{" * 5000, "form", "wanted a JSON object"),
        ('{"map": ["##", "AG"]}', "form", "wanted a JSON object"),
        ('{"map": []}', "form", "wanted a JSON object"),
        ('{"map": [[1, 2], [3, 4]]}', "form", "wanted a JSON object"),
        ('{"map": [["wall", "agent"]]}', "size", "wanted 2 rows of 2 words, got 1"),
        ('{"map": [["wall"], ["agent", "goal"]]}', "size", r"got 2 of \[1, 2\]"),
        (
            '{"map": [["wall", "agent"], ["tree", "goal"]]}',
            "words",
            "wanted empty, agent, goal, wall, got 'tree'",
        ),
    ],
)
def test_other_answers_tell_no_map(text: str, flaw: str, wanted: str) -> None:
    with pytest.raises(Unstated, match=wanted) as caught:
        read_stated(text, KINDS, (2, 2))
    assert caught.value.flaw == flaw
