"""Options of the language models."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Ge, Gt
from pydantic import AnyHttpUrl, JsonValue, StringConstraints, ValidationError

from gde.data.how import How
from gde.data.ranges import Count, Index, PositiveShare, Temperature
from gde.errors import ConfigError
from gde.offers import FilePath
from gde_plugins.language_models.nano import DEFAULT, Training

Dtype = Literal["auto", "float32", "bfloat16", "float16", "float64"]
BatchSize = Annotated[Count, How]
Price = Annotated[float, Ge(0)]
FREE = (0.0, 0.0)
GGUF = ".gguf"
HubId = Annotated[str, StringConstraints(pattern=r"^\w[\w.-]*(/\w[\w.-]*)?$")]


@dataclass(frozen=True, kw_only=True)
class CapturedConfig:
    """Activations that a run holds without a model."""

    source: str
    """Digest of their values, by which the run knows them."""


@dataclass(frozen=True, kw_only=True)
class NanoConfig:
    """Options of the embedded model."""

    source: Training = DEFAULT
    """Training of the weights: with auxiliary losses on agent and goal positions
    (`nano`), without (`nano:plain`), or `nano` trained further on prompts with earlier
    turns (`nano:turns`).
    """
    dtype: Dtype = "float64"
    """Floating-point type. In float64 other requests of a batch cannot change a
    sampled token.
    """
    batch_size: BatchSize = 32
    """Number of conversations generated together."""
    prices: Annotated[tuple[Price, Price], How] = FREE
    """Prices of a million tokens of prompts and of answers."""


@dataclass(frozen=True, kw_only=True)
class LocalConfig:
    """Options of weights that transformers runs in this process."""

    device: Annotated[str, How] = "auto"
    """cpu, cuda or cuda:N; auto uses CUDA if available. balanced shares out the layers of
    a model that is larger than a card among all cards.
    """
    dtype: Dtype = "auto"
    """Floating-point type; auto is that of the checkpoint. Below float64 other requests
    of a batch can change a sampled token: then only batch_size=1 repeats bit for bit.
    """
    batch_size: BatchSize = 32
    """Number of conversations generated together; fewer need less memory."""
    date: str = "2025-08-05"
    """Date for chat templates that print one; fixed, so that a request always gives
    the same prompt.
    """
    prices: Annotated[tuple[Price, Price], How] = FREE
    """Prices of a million tokens of prompts and of answers, e.g. of a rented machine."""


@dataclass(frozen=True, kw_only=True)
class HfConfig(LocalConfig):
    """A causal language model of transformers with a chat template."""

    source: HubId | FilePath
    """The id of a model on a hub, or a folder with config, safetensors and tokenizer: a
    path that begins with `/`, `./`, `../` or `~`.
    """
    revision: str = ""
    """Commit, tag or branch of a model on a hub; empty for its default."""

    def __post_init__(self) -> None:
        if str(self.source).endswith(GGUF):
            raise ConfigError(
                f"model.source: wanted a folder or the id of a model, got {str(self.source)!r}; name a file gguf:FILE"
            )


@dataclass(frozen=True, kw_only=True)
class GgufConfig(LocalConfig):
    """A file of llama.cpp with the weights and tokenizer of a model."""

    source: FilePath
    """The .gguf file."""

    def __post_init__(self) -> None:
        if self.source.suffix != GGUF:
            raise ConfigError(
                f"model.source: wanted a {GGUF} file, got {str(self.source)!r}; name a folder hf:PATH"
            )


@dataclass(frozen=True, kw_only=True)
class OpenAIConfig:
    """A server with OpenAI's chat completions: vLLM, llama.cpp, hosted providers.

    Fields of the answer's sampling replace what agents, judges and others ask for.
    """

    source: str = ""
    """Name of the model on the server; empty for the only one."""
    url: Annotated[str, How]
    """Base URL of the server, as in openai:MODEL@URL or openai:URL."""
    api_key_env: Annotated[str, How] = "OPENAI_API_KEY"
    """Environment variable with the API key; servers without keys need none."""
    headers: Annotated[Mapping[str, str], How] = field(default_factory=dict)
    """Further headers of each request. $NAME stands for the environment variable NAME,
    e.g. {"api-key": "$AZURE_KEY"}.
    """
    effort: str = "auto"
    """Reasoning effort to send, in the server's words; auto is what the part asks for."""
    temperature: Temperature | None = None
    """Sampling temperature; none for what the part asks for."""
    top_p: PositiveShare | None = None
    """Nucleus sampling, likewise."""
    max_tokens: Count | None = None
    """Maximum number of tokens of an answer, likewise."""
    context: Count | None = None
    """Tokens of prompt and answer together that the server takes; answers get the rest,
    with two bytes of the prompt counted as one token. None for no limit.
    """
    limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """The server's name for the token limit."""
    body: Mapping[str, JsonValue] = field(default_factory=dict)
    """Further fields of each request, e.g. {"top_k": 20}."""
    logprobs: bool = False
    """Ask for the log-probabilities of the answer's tokens. They tell whether the local
    weights of a probe are those that are served. llama.cpp gives token ids with them.
    """
    without: tuple[str, ...] = ()
    """Fields of each request that are left out, since the server refuses them, e.g.
    reasoning_effort.
    """
    stream: Annotated[bool, How] = False
    """Have answers sent in pieces, so that no proxy cuts those that take long. Where
    one does, gde asks so by itself.
    """
    prices: Annotated[tuple[Price, Price] | None, How] = None
    """Prices of a million tokens of prompts and of answers, reasoning included."""
    timeout: Annotated[float, Gt(0), How] = 600.0
    """Time limit of one answer in seconds, without the pauses that the server requests."""
    max_bytes: Annotated[Count, How] = 8_000_000
    """Maximum size of an answer in bytes."""
    longest_wait: Annotated[float, Ge(0), How] = 3600.0
    """Longest pause in seconds that the server may request (Retry-After) without
    stopping the run.
    """
    retries: Annotated[Index, How] = 5
    """Maximum number of retries, with growing pauses, after a lost connection or status
    408, 409, 429 or 5xx. A 429 does not count while the server answers other requests.
    """

    def __post_init__(self) -> None:
        try:
            url = AnyHttpUrl(self.url)
        except ValidationError:
            raise ConfigError(
                "model.url: wanted openai:MODEL@URL, e.g. openai:gpt-5-mini@https://api.openai.com/v1 or"
                f" openai:llama@http://localhost:8000/v1, got {self.url!r}"
            ) from None
        if url.password is not None:
            raise ConfigError(
                "model.url: wanted a URL without a password: put it in an environment variable and set"
                " model.api_key_env"
            )
