"""Settings of the judge."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Interval, MinLen

from gde.data.completion import Effort
from gde.offers import GeneralModelName


@dataclass(frozen=True, kw_only=True)
class JudgeConfig:
    """How a language model is asked, as in Shen et al. (2026), appendix C.3."""

    model: Annotated[GeneralModelName, MinLen(1)]
    """The language model: hf:PATH_OR_ID or openai:BASE_URL. One has to be named."""
    memory: bool = False
    """Whether the judge keeps a summary of what it believes and is shown that and the
    last step, instead of all that happened so far.
    """
    thinking: bool = False
    """Whether it is told to reason in its answer before it gives the score, or to give
    the score alone.
    """
    effort: Effort = "low"
    """How long a model that reasons by itself is asked to."""
    repairs: Annotated[int, Ge(0)] = 2
    """How often it is asked again, at most, for an answer without a score."""
    unread: Literal["stop", "hold"] = "stop"
    """How a turn without a score is handled. stop: the episode has no
    rewards; hold: the score before it still holds, and that is counted.
    """
    temperature: Annotated[float, Interval(ge=0, le=2)] = 0.01
    """0 takes the likeliest token."""
    max_tokens: Annotated[int, Ge(1)] = 2048
    """Longest answer, reasoning included."""
