"""Whether each cell of the grids that a model is shown is one token of its own.

Arghal et al. (2026) choose their layout such that it is; other tokenizers may merge
cells.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from gde.data.completion import Tokenization
from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.errors import GdeError
from gde.numerics.episodes import Place, over_worlds
from gde.parts.context import Context
from gde.parts.language_model import WhiteBox
from gde_plugins.grid.config import GridTokensConfig

OWN = "grid.tokens"
ROW = re.compile(r"^\d+ +(\S(?: +\S)*) *$", re.MULTILINE)
"""Index and cells of a row, see `gde_plugins.grid.rendering.layout`."""
SHOWN = 5
"""Tokens that are told."""
NO_GRIDS = "no first prompt of a language model shows a grid"


@dataclass(frozen=True)
class GridTokens:
    """The share of cells that are one token each, in first prompts.

    A token may hold spaces beside its cell. "grid.tokens": share over worlds;
    "grid.tokens.other" by "token": number of cells that share a token with something else, or
    are split, for the commonest.
    """

    config: GridTokensConfig
    context: Context

    def __call__(self, evidence: Evidence) -> Sequence[Measurement]:
        """Look at the first prompt of each world."""
        own: dict[Place, float] = {}
        others: Counter[str] = Counter()
        model: WhiteBox | None = None
        for trajectory in evidence.trajectories:
            completion = trajectory.turns and trajectory.turns[0].decision.completion
            place = Place.of(trajectory)
            if not completion or place in own:
                continue
            model = model or self._model(completion.model)
            text = completion.prompt[-1].content
            told = [*_tokens(text, model.tokenize(text))]
            if told:
                own[place] = told.count("") / len(told)
                others.update(filter(None, told))

        measured = [over_worlds(evidence, OWN, own, reason=NO_GRIDS)]
        for token, n in others.most_common(SHOWN):
            where = {"token": token}
            measured.append(
                Measurement(name="grid.tokens.other", value=n, n=n, where=where)
            )
        return measured

    def _model(self, name: str) -> WhiteBox:
        model = self.context.model(self.config.weights or name)
        if not isinstance(model, WhiteBox):
            raise GdeError(
                f"{name} gives no tokens: set grid-tokens.weights, e.g. hf:PATH_OR_ID"
            )
        return model


def _tokens(text: str, tokens: Tokenization) -> Iterator[str]:
    """Of each cell, the tokens that are not its own; empty where it has one."""
    cells = chain.from_iterable(
        range(row.start(1), row.end(1)) for row in ROW.finditer(text)
    )
    for place in cells:
        if text[place] == " ":
            continue
        covering = [(a, b) for a, b in tokens.spans if a <= place < b]
        words = [text[a:b] for a, b in covering]
        is_own = len(words) == 1 and words[0].strip(" ") == text[place]
        yield "" if is_own else " and ".join(map(repr, words)) or "none"
