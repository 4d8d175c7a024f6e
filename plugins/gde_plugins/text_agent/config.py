"""Options of the text agent."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import MinLen

from gde.data.completion import Effort, History
from gde.data.ranges import Count, Index, PositiveShare, Temperature
from gde.offers import ModelName


@dataclass(frozen=True, kw_only=True)
class TextAgentConfig:
    """Prompt and sampling, by default as in Arghal et al. (2026), appendix E.1."""

    model: Annotated[ModelName, MinLen(1)] = "nano"
    """The language model: nano, nano:plain, nano:turns, hf:PATH_OR_ID or openai:MODEL@URL."""
    style: Literal["auto", "paper", "compact"] = "auto"
    """Style of the prompt: paper is that of Arghal et al. (2026), appendix E.2; compact
    is the single line that nano is trained on; auto is compact for nano, else paper.
    """
    effort: Effort | Literal["auto"] = "auto"
    """Reasoning effort; auto is medium for nano, which does not reason at low, and low
    for other models.
    """
    temperature: Temperature = 0.7
    """Sampling temperature; 0 takes the likeliest token."""
    top_p: PositiveShare = 0.95
    """Nucleus sampling: probability mass of the sampled tokens."""
    max_tokens: Count = 10_000
    """Maximum number of tokens of a completion, reasoning included."""
    history: History = 0
    """Number of earlier turns in the prompt, or all; 0, as in Arghal et al. (2026): no
    memory.
    """
    actions: Literal["json", "text", "schema", "tools"] = "json"
    """Form of the answer: json, as in Arghal et al. (2026); text, the action alone on
    the last line; schema, JSON that the server enforces; tools, a tool call. Only served
    models take the last two.
    """
    strict: bool = False
    """Accept an answer of exactly this form only, as in Arghal et al. (2026); false
    also reads an action that is stated otherwise, and notes the rule.
    """
    probabilities: bool = False
    """Also record the probability of every action; doubles the time per turn, only for
    models with action_probs.
    """
    map_query: bool = False
    """After each action, also ask for the map in words, as appendix A of Arghal et al.
    (2026) suggests; the metric `stated` scores it. Doubles the calls. Causal tests need
    an agent that asks once.
    """
    map_query_age: Index = 0
    """The map asked for is that of so many turns before, which a prompt without history
    no longer shows (A.1): a test of memory. Turns that have none before are not asked.
    """

    def __post_init__(self) -> None:
        if self.map_query and self.actions == "tools":
            raise ValueError(
                "agent.actions=json, text or schema, because agent.map_query asks in words, got tools"
            )
