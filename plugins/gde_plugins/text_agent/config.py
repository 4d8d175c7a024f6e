"""Options of the text agent."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Interval, MinLen

from gde.data.completion import Effort
from gde.offers import ModelName


@dataclass(frozen=True, kw_only=True)
class TextAgentConfig:
    """Sampling as in Arghal et al. (2026), appendix E.1."""

    model: Annotated[ModelName, MinLen(1)] = "nano"
    """The language model: nano, nano:plain, hf:PATH_OR_ID or openai:BASE_URL."""
    style: Literal["auto", "paper", "compact"] = "auto"
    """Style of the prompt: paper is that of Arghal et al. (2026), appendix E.2, compact
    the one line that nano is trained on; auto is compact for nano and paper for others.
    """
    effort: Effort | Literal["auto"] = "auto"
    """Reasoning effort; auto is medium for nano, which answers at once at low, and low
    for others.
    """
    temperature: Annotated[float, Interval(ge=0, le=2)] = 0.7
    """0 takes the likeliest token."""
    top_p: Annotated[float, Interval(gt=0, le=1)] = 0.95
    """Mass of the likeliest tokens that are drawn from."""
    max_tokens: Annotated[int, Ge(1)] = 10_000
    """Longest completion, reasoning included."""
    history: Annotated[int, Ge(0)] = 0
    """Earlier turns in the prompt; 0 is no memory, as in Arghal et al. (2026)."""
    strict: bool = True
    """Whether the whole answer must be JSON, as in Arghal et al. (2026); else code
    fences and trailing commas are forgiven.
    """
    probabilities: bool = False
    """Whether each turn records the probability of every action. It takes about as long
    again as the answer and needs a model with this capability.
    """
