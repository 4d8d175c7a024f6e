"""Requests to language models, and their completions."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Literal

from gde.data.place import HEAD, RESIDUAL, head_of
from gde.data.ranges import Index
from gde.errors import GdeError

# Configurations import this module: NumPy, which activations are made of, would double
# the time of `gde --help`.
if TYPE_CHECKING:
    from gde.data.activations import Intervention
    from gde.data.json import Json

Role = Literal["system", "user", "assistant", "tool"]
"""`tool` answers the calls in the assistant's message before it (`gde.data.tool_call`)."""
Effort = Literal["low", "medium", "high"]
Finish = Literal["stop", "length", "refusal"]
History = Index | Literal["all"]
"""Number of earlier turns in a prompt."""
Span = tuple[int, int]
_ENCODER = json.JSONEncoder(sort_keys=True)


@dataclass(frozen=True, kw_only=True)
class Message:
    """One message of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How tokens are drawn. Temperature 0 takes the likeliest."""

    temperature: float = 0.7
    top_p: float = 0.95
    max_tokens: int = 10_000


@dataclass(frozen=True, kw_only=True)
class AnswerForm:
    """The form of an answer that the model enforces: an object with one text field, or
    any JSON object.
    """

    kind: Literal["schema", "tool", "json"]
    """Whether the answer is the object, the call of a tool with its field, or any JSON
    object. A model that enforces no forms ignores the last, for which prompts ask too.
    """
    name: str = ""
    """The name of the schema or tool."""
    field: str = ""
    choices: tuple[str, ...] | None = None
    """The texts that the field may have; None for any."""


@dataclass(frozen=True, kw_only=True)
class ChatRequest:
    """One call of a language model.

    The same request gives the same completion in any batch.
    """

    messages: tuple[Message, ...]
    seed: int
    sampling: Sampling = Sampling()
    effort: Effort | None = "low"
    """None sends none, so that the server or template takes its own."""
    interventions: "tuple[Intervention, ...]" = ()
    """Changes of the residual stream during the answer. A model without the capability
    INTERVENTIONS refuses them.
    """
    prefill: tuple[int, ...] = ()
    """Token ids that the completion begins with, e.g. the reasoning of another answer.
    They count among its tokens, and each further token is drawn with the noise of its
    place. A model without the capability INTERVENTIONS refuses them.
    """
    positions: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Further positions for interventions: name to indices into the tokens of the prompt
    and the prefill. The completion has them too, so that a replay makes the same changes.
    """
    form: AnswerForm | None = None
    """The form that the answer must have; None for free text. Only a model with the
    capability ANSWER_FORMS takes a schema or tool.
    """

    # Each decorator of a model needs it.
    @cached_property
    def identity(self) -> str:
        """SHA-256 of the request: equal requests must get equal completions."""
        changes = [each.identity for each in self.interventions]
        messages = [[each.role, each.content] for each in self.messages]

        # `vars` serves as well as the slower `asdict`, since all fields are numbers.
        sampling = vars(self.sampling)
        asked = [messages, self.seed, sampling, self.effort]
        parts: list[object] = [asked, changes]
        # Requests without them keep the identity that older records have.
        if self.prefill:
            parts.append([*self.prefill])
        if self.positions:
            parts.append({name: [*self.positions[name]] for name in self.positions})
        if self.form:
            parts.append(vars(self.form))
        text = _ENCODER.encode(parts)
        return sha256(text.encode()).hexdigest()

    def asked_of(self, model: str) -> str:
        """Identify this request to a model, as `Completion.request` of the answer."""
        text = f"{model}\n{self.identity}"
        return sha256(text.encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Completion:
    """The completion of a language model, split into reasoning and answer."""

    text: str
    """The answer: the final channel, without reasoning and template tokens."""
    reasoning: str | None
    finish: Finish
    prompt_tokens: tuple[int, ...] = ()
    """Token ids of the rendered conversation; empty where the server does not give
    them.
    """
    tokens: tuple[int, ...] = ()
    """Token ids of the completion, template tokens included."""
    logprobs: tuple[float, ...] = ()
    """Natural logarithms of the probabilities of the completion's tokens before
    temperature, as a server gives them; empty where it gives none.
    """
    positions: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Places to read activations at: name to indices into prompt_tokens + tokens.

    A backend that knows its template gives "pre": the tokens that close the prompt,
    before any reasoning. When the model reasoned to the end, it also gives "post": the
    same template tokens after the reasoning. "reasoning" are all tokens of the
    reasoning, if there are any.
    """
    n_prompt: int | None = None
    """Tokens of the prompt, as billed; None where the server does not tell."""
    n_completion: int | None = None
    answered_by: str = ""
    """The name that the model gives itself, which may differ from the requested one;
    empty where it gives none.
    """
    request: str = ""
    """Identity of the request that it answers. The run fills it in, and a changed
    completion keeps it.
    """
    model: str = ""
    """The language model that answered, as the user named it. The run fills it in."""
    prompt: tuple[Message, ...] = ()
    """The conversation that it answers, before the model's template. The run fills it
    in.
    """
    effort: str | None = None
    """The reasoning effort that a server was sent, whose template writes it into the
    prompt; None where it was sent none.
    """
    likeliest: bool | None = field(default=None, compare=False)
    """Whether a server was asked for the likeliest token at every place; None where
    that is not known. The record tells it of a model, not of an answer.
    """
    interventions: "tuple[Intervention, ...]" = ()
    """Changes of the residual stream during the answer, which a replay repeats. The run
    fills them in.
    """
    n_prompt_cached: int | None = field(default=None, compare=False)
    """Tokens of the prompt that the server had in its cache; None where it does not
    tell. The record tells their sum, of a model.
    """
    served: Mapping[str, str] = field(default_factory=dict, compare=False)
    """What a server says of itself, e.g. {"provider": "Together", "fingerprint":
    "fp_4"}. The record tells it of a model, not of an answer.
    """
    cached: bool = False
    """Whether it is the answer of an earlier run to the same request. The run fills it
    in.
    """
    seconds: float | None = field(default=None, compare=False)
    """Time of the model, waiting included; None where it is not known. The run fills it
    in. Equality ignores it.
    """


@dataclass(frozen=True, kw_only=True)
class FirstAnswer:
    """A model's answer to a question that was asked before the run."""

    completion: Completion
    settings: "Mapping[str, Json]"
    """Fields of the model's configuration without which it would not have answered."""
    seconds: float
    """Time of the request, without those that the model refused."""
    unsent: Mapping[str, str] = field(default_factory=dict)
    """Fields of the request that the settings leave out, each with the model's refusal."""


@dataclass(frozen=True, kw_only=True)
class WeighedCompletion:
    """One possible answer to a request."""

    completion: Completion
    probability: float
    """The probability that the request's sampling gives these tokens."""


@dataclass(frozen=True, kw_only=True)
class Tokenization:
    """A text as a model's tokenizer sees it."""

    ids: tuple[int, ...]
    spans: tuple[Span, ...]
    """Half-open character range in the text for each id."""


@dataclass(frozen=True, kw_only=True)
class ModelInfo:
    """The model that answered, for the record and every page that shows its results."""

    name: str
    n_layers: int = 0
    """Decoder layers; 0 where the model gives no activations."""
    width: int = 0
    """Size of the residual stream."""
    n_heads: int = 0
    """Attention heads of every layer; 0 where the residual stream alone is given."""
    head_width: int = 0
    """Size of what one head gives."""
    notice: str = ""
    """What every report made with this model must show; empty for none. The words before
    its first colon are told beside the finding: "Toy model: ...".
    """
    versions: Mapping[str, str] = field(default_factory=dict)
    """Versions of the weights and the software, e.g. {"weights": SHA-256}."""

    def width_at(self, place: str) -> int:
        """The width of activations at a place of a layer (`gde.data.place`).

        Raises:
            GdeError: the layers have no such place.
        """
        if place == RESIDUAL:
            return self.width
        if not self.n_heads:
            raise GdeError(f"place: {self.name} gives {RESIDUAL} alone, got {place!r}")
        head = head_of(place)
        if head is None:
            return self.width
        if head >= self.n_heads:
            last = f"{HEAD}{self.n_heads - 1}"
            raise GdeError(f"place: {self.name} has {HEAD}0 to {last}, got {place!r}")
        return self.head_width
