"""The tokens of prompts as inputs of a control."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gde.stages import prompts as module
from gde.stages.prompts import Prompt, inputs_of, packed, shown_in

PROMPTS = st.lists(
    st.lists(st.integers(0, 3), max_size=6).map(tuple), min_size=1, max_size=8
)


@given(PROMPTS)
def test_an_input_says_which_token_is_at_which_place_from_the_end(
    prompts: list[Prompt],
) -> None:
    inputs = inputs_of(prompts)
    shown = shown_in(prompts, inputs)
    assert shown.shape == (len(prompts), max(1, len(inputs)))
    for (place, token), column in inputs.items():
        has = [len(each) > place and each[-1 - place] == token for each in prompts]
        assert shown[:, column].tolist() == has
        assert 1 < sum(has) < len(prompts)


@given(PROMPTS)
def test_what_every_prompt_shows_or_only_one_does_is_no_input(
    prompts: list[Prompt],
) -> None:
    inputs = inputs_of(prompts)
    for prompt in prompts:
        for place in range(len(prompt)):
            token = prompt[-1 - place]
            n = sum(len(each) > place and each[-1 - place] == token for each in prompts)
            assert ((place, token) in inputs) == (1 < n < len(prompts))


def test_a_longer_history_moves_no_input() -> None:
    inputs = inputs_of([(7, 1, 2), (8, 1, 3), (9, 4, 2)])
    short, long = shown_in([(1, 2), (5, 5, 1, 2)], inputs)
    assert np.array_equal(short, long) and short.sum() == 2


def test_prompts_that_are_alike_give_one_empty_input() -> None:
    assert shown_in([(1, 2)] * 3, inputs_of([(1, 2)] * 3)).tolist() == [[0]] * 3


def test_of_too_many_inputs_the_commonest_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prompts = [packed(each) for each in ((1, 2), (1, 2), (1, 3), (4, 3))]
    assert set(inputs_of(prompts)) == {(1, 1), (0, 2), (0, 3)}
    monkeypatch.setattr(module, "MOST", 2)
    assert set(inputs_of(prompts)) == {(1, 1), (0, 2)}
