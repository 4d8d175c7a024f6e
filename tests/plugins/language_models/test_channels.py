"""Reasoning, answer and positions, from token ids."""

from collections.abc import Sequence

import pytest

from gde_plugins.language_models.channels import Harmony, Plain, ThinkTags, channels_of

HARMONY = [
    "<|start|>",
    "<|end|>",
    "<|message|>",
    "<|channel|>",
    "<|return|>",
    "<|call|>",
]


class Words:
    """A tokenizer of words; decoding leaves the special ones out."""

    def __init__(self, special: Sequence[str]) -> None:
        names = [
            *special,
            "assistant",
            "analysis",
            "final",
            "commentary",
            "json",
            "to=tool",
            "so",
            "go",
            "up",
            "a",
            "b",
        ]
        self.ids = {name: index for index, name in enumerate(names)}
        self.special = set(special)

    def get_vocab(self) -> dict[str, int]:
        return self.ids

    def decode(self, ids: Sequence[int], **options: bool) -> str:
        assert options == {
            "skip_special_tokens": True,
            "clean_up_tokenization_spaces": False,
        }
        names = {index: name for name, index in self.ids.items()}
        return " ".join(
            names[index] for index in ids if names[index] not in self.special
        )

    def __call__(self, text: str) -> tuple[int, ...]:
        return tuple(self.ids[word] for word in text.split())


@pytest.fixture
def words() -> Words:
    return Words(HARMONY)


PROMPT = "<|start|> a <|message|> b <|end|> <|start|> assistant"
ANALYSIS = "<|channel|> analysis <|message|> so go up"
FINAL = "<|channel|> final <|message|> up"
NEXT = "<|end|> <|start|> assistant"


def test_the_style_is_told_by_the_vocabulary() -> None:
    assert isinstance(channels_of(Words(HARMONY)), Harmony)
    assert isinstance(channels_of(Words(["<think>", "</think>"])), ThinkTags)
    assert isinstance(channels_of(Words(["<|im_end|>"])), Plain)


def test_harmony_is_stopped_by_return_and_call(words: Words) -> None:
    assert channels_of(words).stops == {words.ids["<|return|>"], words.ids["<|call|>"]}


def test_harmony_reads_both_channels_and_positions_the_same_template_tokens_twice(
    words: Words,
) -> None:
    prompt, tokens = words(PROMPT), words(f"{ANALYSIS} {NEXT} {FINAL} <|return|>")
    reading = channels_of(words).read(prompt, tokens)
    assert (reading.reasoning, reading.text) == ("so go up", "up")
    whole = prompt + tokens
    template = words(NEXT)
    assert set(reading.positions) == {"pre", "reasoning", "post"}
    for position in ("pre", "post"):
        assert tuple(whole[index] for index in reading.positions[position]) == template
    assert tuple(whole[index] for index in reading.positions["reasoning"]) == words(
        "so go up"
    )
    assert reading.positions["pre"] == tuple(range(len(prompt) - 3, len(prompt)))
    assert whole[reading.positions["post"][-1] + 1] == words.ids["<|channel|>"]


@pytest.mark.parametrize(
    ("completion", "text", "reasoning", "positions"),
    [
        (ANALYSIS, "", "so go up", {"pre"}),
        (f"{ANALYSIS} <|return|>", "", "so go up", {"pre"}),
        (f"{ANALYSIS} {NEXT}", "", "so go up", {"pre"}),
        (f"{ANALYSIS} {NEXT} <|channel|> final", "", "so go up", {"pre"}),
        (f"{ANALYSIS} {NEXT} <|channel|> final <|message|>", "", "so go up", {"pre", "post"}),
        (f"{FINAL} <|return|>", "up", None, {"pre"}),
        (f"{ANALYSIS} <|end|> {FINAL}", "up", "so go up", {"pre"}),
        (f"{ANALYSIS} {NEXT} {ANALYSIS} {NEXT} {FINAL}", "up", "so go up\nso go up", {"pre", "post"}),
        (f"{ANALYSIS} {NEXT} <|channel|> final json <|message|> a <|return|>", "a", "so go up", {"pre", "post"}),
        (f"{ANALYSIS} {NEXT} to=tool <|channel|> commentary <|message|> a <|call|>", "", "so go up", {"pre"}),
        ("<|channel|> <|message|> a <|end|>", "", None, {"pre"}),
        ("<|channel|>", "", None, {"pre"}),
        ("so go up <|return|>", "", None, {"pre"}),
        ("", "", None, {"pre"}),
    ],
)  # fmt: skip
def test_harmony_reads_whatever_comes(
    words: Words, completion: str, text: str, reasoning: str | None, positions: set[str]
) -> None:
    reading = channels_of(words).read(words(PROMPT), words(completion))
    positions = positions | ({"reasoning"} if reasoning else set())
    assert (reading.text, reading.reasoning, set(reading.positions)) == (
        text,
        reasoning,
        positions,
    )


@pytest.mark.parametrize(
    ("prompt", "completion", "text", "reasoning", "post"),
    [
        ("a b", "<think> so go </think> up", "up", "so go", "so go </think>"),
        ("a b <think>", "so go </think> up", "up", "so go", "so go </think>"),
        ("a <think> </think>", "up", "up", None, None),
        ("a b", "up", "up", None, None),
        ("a b", "<think> so go", "", "so go", None),
        ("a b <think>", "so", "", "so", None),
        ("a b", "<think> </think> up", "up", "", "b <think> </think>"),
        ("a b", "so go </think> up", "up", "so go", "so go </think>"),
    ],
)
def test_think_tags(
    prompt: str, completion: str, text: str, reasoning: str | None, post: str | None
) -> None:
    words = Words(["<think>", "</think>"])
    reading = channels_of(words).read(words(prompt), words(completion))
    assert (reading.text, reading.reasoning) == (text, reasoning)
    whole = words(prompt) + words(completion)
    marked = reading.positions.get("post")
    assert (marked and tuple(whole[index] for index in marked)) == (
        words(post) if post else None
    )
    assert reading.positions["pre"] == tuple(range(len(words(prompt))))[-3:]
    assert [whole[index] for index in reading.positions.get("reasoning", ())] == list(
        words(reasoning or "")
    )


def test_models_that_do_not_reason_have_one_position() -> None:
    words = Words([])
    reading = channels_of(words).read(words("a b a"), words("up"))
    assert (reading.text, reading.reasoning, reading.positions) == (
        "up",
        None,
        {"pre": (0, 1, 2)},
    )


def test_tags_that_are_no_tokens_are_split_as_text_and_have_no_position() -> None:
    words = Words([])
    words.ids |= {"<think>go": 20, "on</think>": 21}
    reading = channels_of(words).read(words("a b a"), words("<think>go on</think> up"))
    assert (reading.text, reading.reasoning) == ("up", "go on")
    assert reading.positions == {"pre": (0, 1, 2)}
