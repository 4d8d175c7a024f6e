"""Cells against tokens, with tokenizers made for the test."""

import re
from types import SimpleNamespace
from typing import Any, cast

import pytest

from gde.data.completion import Completion, Message, ModelInfo, Tokenization
from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.trajectory import Decision
from gde.errors import GdeError
from gde.parts.context import Context
from gde.parts.language_model import WhiteBox
from gde.testing.episodes import Move, episode_of
from gde_plugins.grid.config import GridTokensConfig
from gde_plugins.grid.metrics.tokens import GridTokens
from gde_plugins.grid.rendering.layout import render_text

ROWS = ("#####", "#__##", "#_#_#", "#___#", "#####")
PROMPT = f"Go from A to G.\n{render_text(ROWS, agent=(1, 1), goal=(3, 3))}"


class Splitting:
    """A model whose tokens are the matches of a pattern."""

    info = ModelInfo(name="splitting")

    def __init__(self, pattern: str) -> None:
        self._pattern = re.compile(pattern)

    def tokenize(self, text: str) -> Tokenization:
        spans = tuple(match.span() for match in self._pattern.finditer(text))
        return Tokenization(ids=(0,) * len(spans), spans=spans)

    def never(self, *_: object) -> Any:
        raise AssertionError("the model is asked for nothing but tokens")

    complete = close = capture = untrained = never


def measured(model: object, prompt: str = PROMPT) -> dict[str, Measurement]:
    answer = Completion(
        text="UP",
        reasoning=None,
        finish="stop",
        model="own",
        prompt=(Message(role="user", content=prompt),),
    )
    decision = Decision.act("UP", answer)
    walks = [
        episode_of([Move(action=decision)] * 2, world=i, repeat=repeat)
        for i in range(3)
        for repeat in range(2)
    ]
    context = cast("Context", SimpleNamespace(model={"own": model}.__getitem__))
    found = GridTokens(GridTokensConfig(), context)(Evidence(trajectories=tuple(walks)))
    return {one.name + str(one.where.get("token", "")): one for one in found}


@pytest.mark.parametrize("pattern", [r"\S", r" ?\S", r" *\S|\s", r"\S *"])
def test_spaces_do_not_matter(pattern: str) -> None:
    assert isinstance(Splitting(""), WhiteBox)
    found = measured(Splitting(pattern))
    assert list(found) == ["grid.tokens"]
    assert (found["grid.tokens"].value, found["grid.tokens"].n) == (1, 3)


@pytest.mark.parametrize(
    ("pattern", "token", "n"),
    [
        (r"# #|\S", "'# #'", 10),
        (r"\S\s*", "'# \\n'", 4),
        (r"[^G\s]", "none", 1),
    ],
)
def test_other_tokens_are_told(pattern: str, token: str, n: int) -> None:
    found = measured(Splitting(pattern))
    assert found["grid.tokens"].value == pytest.approx(1 - n / 25)
    assert found[f"grid.tokens.other{token}"].value == 3 * n


class Halving(Splitting):
    """A goal is two tokens, as a letter of several bytes may be."""

    def tokenize(self, text: str) -> Tokenization:
        whole = super().tokenize(text).spans
        spans = [span for span in whole for _ in range(1 + (text[span[0]] == "G"))]
        return Tokenization(ids=(0,) * len(spans), spans=tuple(spans))


def test_a_cell_in_two_tokens_is_none_of_its_own() -> None:
    found = measured(Halving(r"\S"))
    assert found["grid.tokens"].value == pytest.approx(1 - 1 / 25)
    assert found["grid.tokens.other'G' and 'G'"].value == 3


def test_a_prompt_without_a_grid_has_a_reason() -> None:
    found = measured(Splitting(r"\S"), "Go to the kitchen.")
    assert found["grid.tokens"].value is None
    assert "shows a grid" in found["grid.tokens"].reason


def test_a_model_without_tokens_is_refused() -> None:
    with pytest.raises(GdeError, match=r"own gives no tokens: set grid-tokens.weights"):
        measured(object())
