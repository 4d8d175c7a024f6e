"""nano's tokenizer and chat template."""

import string
from typing import Any

import jinja2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nano_training.samples import render
from nano_training.tokenizer import SPECIAL, build_tokenizer

TOKENIZER: Any = build_tokenizer()
PRINTABLE = string.ascii_letters + string.digits + string.punctuation + " \n"


def grid_text(size: int) -> str:
    """An arbitrary grid in the layout that agents read."""
    width = len(str(size)) + 1
    symbols = ["#_AG"[(7 * place) % 4] for place in range(size * size)]
    lines = ["".join(str(column).ljust(width) for column in range(size))]
    lines += [
        "".join(s.ljust(width) for s in symbols[row * size : (row + 1) * size])
        for row in range(size)
    ]
    labels = [" " * width, *(str(row).ljust(width) for row in range(size))]
    return "\n".join(
        label + line.rstrip() + " " for label, line in zip(labels, lines, strict=True)
    )


@settings(max_examples=200)
@given(st.text(alphabet=PRINTABLE))
def test_printable_ascii_survives_the_round_trip(text: str) -> None:
    ids = TOKENIZER.encode(text, add_special_tokens=False)
    assert TOKENIZER.decode(ids) == text
    assert TOKENIZER.unk_token_id not in ids


@pytest.mark.parametrize("size", range(5, 26, 2))
def test_every_cell_is_one_token(size: int) -> None:
    text = grid_text(size)
    encoded = TOKENIZER(text, add_special_tokens=False, return_offsets_mapping=True)
    assert TOKENIZER.decode(encoded["input_ids"]) == text
    spans = [text[begin:end] for begin, end in encoded["offset_mapping"]]
    assert sum(span.strip() in {"#", "_", "A", "G"} for span in spans) == size * size


@pytest.mark.parametrize("size", [5, 11, 25])
def test_a_line_is_its_index_and_its_cells(size: int) -> None:
    """What the losses rely on to find the cells of a prompt."""
    text = grid_text(size)
    tokens = TOKENIZER.convert_ids_to_tokens(
        TOKENIZER.encode(text, add_special_tokens=False)
    )
    lines = tokens[-1 - size * (size + 1) : -1]
    assert tokens[-1] == " "
    assert [int(lines[row * (size + 1)].strip()) for row in range(size)] == list(
        range(size)
    )


def test_coordinates_are_one_token() -> None:
    ids = [
        TOKENIZER.encode(f" {row},{column}", add_special_tokens=False)
        for row in range(25)
        for column in range(25)
    ]
    assert {len(each) for each in ids} == {1}
    assert len({each[0] for each in ids}) == 625


@pytest.mark.parametrize("effort", ["low", "medium", "high"])
def test_the_chat_template_renders_what_nano_is_trained_on(effort: str) -> None:
    content = "Go.\n" + grid_text(7)
    chat = [{"role": "user", "content": content}]
    rendered = TOKENIZER.apply_chat_template(
        chat, tokenize=False, add_generation_prompt=True, reasoning_effort=effort
    )
    assert rendered == render([content], [], effort)


def test_effort_is_low_by_default_and_the_last_tokens_are_the_template() -> None:
    ids = TOKENIZER.apply_chat_template(
        [{"role": "user", "content": "x"}], add_generation_prompt=True
    )["input_ids"]
    assert TOKENIZER.convert_ids_to_tokens(ids)[-3:] == [
        "<|end|>",
        "<|start|>",
        "assistant",
    ]
    assert TOKENIZER.decode(ids).startswith(
        "<|start|>system<|message|>Reasoning: low<|end|>"
    )


def test_an_earlier_answer_is_rendered_in_the_final_channel() -> None:
    chat = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c"},
    ]
    rendered = TOKENIZER.apply_chat_template(
        chat, tokenize=False, add_generation_prompt=True
    )
    assert (
        "<|start|>assistant<|channel|>final<|message|>b<|end|><|start|>user<|message|>c<|end|>"
        in rendered
    )


def test_other_roles_are_refused() -> None:
    with pytest.raises(jinja2.TemplateError, match="user and assistant only"):
        TOKENIZER.apply_chat_template(
            [{"role": "system", "content": "x"}], tokenize=False
        )


def test_special_tokens_are_single_and_skipped_when_asked() -> None:
    ids = TOKENIZER.encode("".join(SPECIAL), add_special_tokens=False)
    assert TOKENIZER.convert_ids_to_tokens(ids) == list(SPECIAL)
    assert TOKENIZER.decode(ids, skip_special_tokens=True) == ""
