"""Positions that probes find themselves are found once in each turn."""

from gde import Completion, TokenSequence
from gde.parts.probe import Marked, Tokenize
from gde.stages.marking import Marking
from gde.testing.parts import PlantedModel

PROMPT = (1, 2)


def answer(text: str) -> Completion:
    return Completion(
        text=text,
        reasoning=None,
        finish="stop",
        prompt_tokens=PROMPT,
        tokens=tuple(map(ord, text)),
        positions={"pre": (1,)},
    )


def sequence(completion: Completion) -> TokenSequence:
    return TokenSequence(
        tokens=PROMPT + completion.tokens, positions=completion.positions
    )


def test_each_turn_is_marked_once_and_what_is_not_there_is_counted() -> None:
    asked = []

    def marks(
        completion: Completion, sequence: TokenSequence, tokenize: Tokenize
    ) -> Marked:
        asked.append(completion.text)
        place = tokenize(completion.text).ids.index(ord("G"))
        return {"g": (len(PROMPT) + place,), "z": "no z", "y": "no y" + completion.text}

    marking = Marking(marks=[marks], model=PlantedModel)
    for text in ("RIGHT", "GO", "RIGHT"):
        for _ in range(2):
            one = answer(text)
            found = marking.marked((text, 0), one, sequence(one))
            assert found.positions == {"pre": (1,), "g": (2 + text.index("G"),)}
            assert found.tokens == PROMPT + one.tokens
    assert asked == ["RIGHT", "GO"]
    assert marking.reasons == {
        "z": "no z (2)",
        "y": "no yRIGHT (1), no yGO (1)",
    }


def test_several_probes_mark_the_same_turns() -> None:
    marking = Marking(
        marks=[lambda *_: {"a": (0,)}, lambda *_: {"b": (1,)}], model=PlantedModel
    )
    one = answer("UP")
    found = marking.marked(("0/0/0", 0), one, sequence(one))
    assert found.positions == {"pre": (1,), "a": (0,), "b": (1,)}
    assert marking.reasons == {}
