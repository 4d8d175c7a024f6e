"""Settings of the judge."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import MinLen

from gde.data.completion import Effort
from gde.data.ranges import Count, Index, Temperature
from gde.errors import ConfigError
from gde.offers import GeneralModelName
from gde_plugins.reward_judge.prompts import Form


@dataclass(frozen=True, kw_only=True)
class JudgeConfig:
    """Settings of the judge of Shen et al. (2026), appendix C.3."""

    model: Annotated[GeneralModelName, MinLen(1)]
    """Required: the language model, hf:PATH_OR_ID or openai:MODEL@URL."""
    memory: bool = False
    """Let the judge keep a summary, and show it only that and the last step."""
    thinking: bool = False
    """Ask for reasoning before the score instead of the score alone."""
    form: Form = "text"
    """Form of an answer: a line with the score, or a JSON object with it."""
    effort: Effort = "low"
    """Reasoning effort of a model with built-in reasoning."""
    repairs: Index = 2
    """Maximum number of retries for an answer without a score."""
    unread: Literal["stop", "hold"] = "stop"
    """After the last retry: stop (the episode has no rewards) or hold (the previous score
    holds, counted).
    """
    temperature: Temperature = 0.01
    """Sampling temperature; 0: greedy."""
    max_tokens: Count = 2048
    """Maximum length of an answer, reasoning included."""

    def __post_init__(self) -> None:
        if self.form == "json" and self.memory:
            raise ConfigError(
                "judge.form: wanted text, in which a judge with a memory writes its belief; got 'json'"
            )
