"""Options of the language models."""

from dataclasses import dataclass
from typing import Annotated, Literal
from urllib.parse import urlsplit

from annotated_types import Ge, Gt

from gde.errors import ConfigError
from gde_plugins.language_models.nano import DEFAULT, Training

Dtype = Literal["auto", "float32", "bfloat16", "float16", "float64"]
BatchSize = Annotated[int, Ge(1)]


@dataclass(frozen=True, kw_only=True)
class NanoConfig:
    """Options of the embedded model."""

    source: Training = DEFAULT
    """Training of the weights: with auxiliary losses on agent and goal positions
    (`nano`), or without (`nano:plain`).
    """
    dtype: Dtype = "float64"
    """Floating-point type. In float64 other requests of a batch cannot change a
    sampled token.
    """
    batch_size: BatchSize = 32
    """Number of conversations generated together."""


@dataclass(frozen=True, kw_only=True)
class HfConfig:
    """A causal language model of transformers with a chat template."""

    source: str
    """Folder with config, safetensors and tokenizer; or a GGUF file; or the id of a
    model on a hub.
    """
    device: str = "auto"
    """cpu, cuda or cuda:N; auto uses CUDA if available."""
    dtype: Dtype = "auto"
    """Floating-point type; auto is that of the checkpoint. Below float64 other requests
    of a batch can change a sampled token: then only batch_size=1 repeats bit for bit.
    """
    batch_size: BatchSize = 32
    """Number of conversations generated together; fewer need less memory."""
    revision: str = ""
    """Commit, tag or branch of a model on a hub; empty for its default."""
    date: str = "2025-08-05"
    """Date for chat templates that print one; fixed, so that a request always gives
    the same prompt.
    """


@dataclass(frozen=True, kw_only=True)
class OpenAIConfig:
    """A server with OpenAI's chat completions: vLLM, llama.cpp, hosted providers."""

    source: str
    """Base URL, e.g. http://localhost:8000/v1."""
    model: str = ""
    """Model name on the server; may be empty if the server has only one model."""
    api_key_env: str = "OPENAI_API_KEY"
    """Environment variable with the API key; servers without keys need none."""
    timeout: Annotated[float, Gt(0)] = 600.0
    """Time limit of one answer in seconds, without the pauses that the server requests."""
    max_bytes: Annotated[int, Ge(1)] = 8_000_000
    """Maximum size of an answer in bytes."""
    longest_wait: Annotated[float, Ge(0)] = 3600.0
    """Longest pause in seconds that the server may request (Retry-After) without
    stopping the run.
    """
    retries: Annotated[int, Ge(0)] = 5
    """Maximum number of retries, with growing pauses, after a lost connection or status
    408, 409, 429 or 5xx. A 429 does not count while the server answers other requests.
    """
    send_effort: bool = True
    """Send `reasoning_effort`, which models without reasoning may refuse."""
    limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """The server's name for the token limit."""

    def __post_init__(self) -> None:
        if urlsplit(self.source).scheme not in {"http", "https"}:
            raise ConfigError(
                f"model.source: wanted a URL, e.g. http://localhost:8000/v1, got {self.source!r}"
            )
        if urlsplit(self.source).password is not None:
            raise ConfigError(
                "model.source: the URL contains a password, which every run file would repeat. Put it in an environment"
                " variable and set model.api_key_env"
            )
