"""The tokens of a language model that stand for the cells of a grid."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gde.data.cell_map import Position
from gde.data.completion import Tokenization
from gde_plugins.grid.rendering.layout import locate


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
        any line ends. tokenize: e.g. `gde.parts.language_model.WhiteBox.tokenize`.
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
