"""What a language model says about a state is read as it stands, or refused with a
reason.
"""

import asyncio
import json
from collections.abc import Callable

import pytest
from extractor_answers import answers

from gde.data.transcript import Transcript
from gde.testing.parts import AnsweringModel
from gde_plugins.statefactory.config import StateFactoryConfig
from gde_plugins.statefactory.embedding import HashedWords
from gde_plugins.statefactory.language_model.answers import Malformed, parse_items
from gde_plugins.statefactory.language_model.extractor import ModelExtractor
from gde_plugins.statefactory.model import StateFactory
from gde_plugins.statefactory.state import Item

MUG = [
    {
        "object": {
            "mug": [
                {"place": "The mug is on the table."},
                {"goal_color": "The mug is blue."},
            ]
        }
    }
]
WANTED = [
    Item("mug", {"place": "The mug is on the table.", "color": "The mug is blue."})
]


@pytest.mark.parametrize(
    "answer",
    [
        json.dumps({"thinking": "let me see", "state": MUG}),
        json.dumps({"_thinking": "x", "whatever": MUG}),
        json.dumps(MUG),
        json.dumps({"state": {"objects": MUG}}),
        f"```json\n{json.dumps({'state': MUG}, indent=2)}\n```",
        f"I think {{so}}: {json.dumps({'state': MUG})} That is all.",
        f'{{"state": [{{"object": {{"cup": []}}}}]}} No, rather {json.dumps({"state": MUG})}',
        json.dumps(
            {
                "state": [
                    {
                        "mug": {
                            "place": "The mug is on the table.",
                            "intermediate_color": "The mug is blue.",
                        }
                    }
                ]
            }
        ),
        json.dumps({"object": MUG[0]["object"]}),
    ],
)
def test_objects_are_found_in_any_usual_wrapping(answer: str) -> None:
    assert parse_items(answer, empty=False) == WANTED


def test_sentences_are_objects_of_their_own_or_parts_of_one() -> None:
    assert parse_items(
        '{"state": ["The mug is blue.", "It is hot."]}', empty=False
    ) == [
        Item("The mug is blue.", {"description": "The mug is blue."}),
        Item("It is hot.", {"description": "It is hot."}),
    ]
    grouped = '[{"object": {"mug": ["It is blue.", "It is hot."]}}]'
    assert parse_items(grouped, empty=False) == [
        Item("mug", {"state": "It is blue. It is hot."})
    ]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "wanted a JSON object, got ''"),
        ("null", "wanted a JSON object"),
        ("x" * 1_000_000, "got 1000000"),
        ('{"state": [{"object": {"mug": [{"place": "on', "wanted a JSON object"),
        ('{"state": [{"object": {"mug": []}}, {"object"', "wanted a JSON object"),
        ("[" * 100_000, "wanted a JSON object"),
        ('{"state": "blue"}', "wanted a list of objects"),
        ('{"state": [], "goal": []}', "wanted a list of objects"),
        ('{"state": [3]}', "wanted an object, got .3."),
        ('{"state": [{"object": "mug"}]}', "wanted NAME: attributes"),
        (
            '{"state": [{"object": {"mug": [{"place": null}]}}]}',
            "wanted a text as a value",
        ),
        ('{"state": [{"object": {" ": []}}]}', "got an empty one"),
        ('{"state": ["\\ud800"]}', "wanted a text"),
        (json.dumps({"state": ["x"] * 501}), "at most 500 objects, got 501"),
        ('{"state": []}', "wanted at least one object"),
    ],
)
def test_what_tells_no_objects_is_refused_with_the_reason(
    answer: str, reason: str
) -> None:
    with pytest.raises(Malformed, match=reason):
        parse_items(answer, empty=False)


def test_a_state_may_be_empty() -> None:
    assert parse_items('{"state": []}', empty=True) == []


def test_the_corpus_is_large_enough_to_mean_something() -> None:
    assert len({*answers()}) >= 300
    assert all(
        sum(one.read == read for one in answers()) >= 10
        for read in ("mug", "other", "nothing")
    )


def test_every_answer_of_the_corpus_is_read_as_it_stands_or_refused() -> None:
    for answer in answers():
        if answer.read == "nothing":
            with pytest.raises(Malformed) as refused:
                parse_items(answer.text, empty=False)
            assert len(str(refused.value)) < 600
        else:
            names = [item.name for item in parse_items(answer.text, empty=False)]
            assert (names == ["mug"]) == (answer.read == "mug"), answer.text[:200]


def test_no_answer_of_the_corpus_raises_or_is_a_silent_zero(
    episode: Callable[..., Transcript],
) -> None:
    """As the answer to all that is asked of two turns, asked for once again."""
    config = StateFactoryConfig(model="m", repairs=1)
    for answer in answers():
        reader = ModelExtractor(config, AnsweringModel([answer.text]))
        trace = asyncio.run(
            StateFactory(reader, HashedWords()).rewards(
                episode("Fetch the mug.", "A mug.", "Fog.")
            )
        )
        if answer.read == "nothing":
            assert trace.failure and not len(trace.values)
            assert trace.counts["asked again"] == 1
        else:
            assert not trace.failure and len(trace.values) == 2
            assert trace.values.min() > 0
