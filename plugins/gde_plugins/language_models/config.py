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
    """The embedded model."""

    source: Training = DEFAULT
    """The training: with auxiliary losses that put agent and goal where probes read
    (`nano`), or without (`nano:plain`).
    """
    dtype: Dtype = "float64"
    """Arithmetic; in float64 other requests of a batch cannot change a sampled
    token.
    """
    batch_size: BatchSize = 32
    """Conversations that are generated together."""


@dataclass(frozen=True, kw_only=True)
class HfConfig:
    """A causal language model of transformers with a chat template."""

    source: str
    """Folder with config, safetensors and tokenizer; or a GGUF file; or the id of a
    model on a hub.
    """
    device: str = "auto"
    """cpu, cuda or cuda:N; auto takes cuda where there is one."""
    dtype: Dtype = "auto"
    """Arithmetic; auto is that of the checkpoint. Below float64 other requests of a
    batch can change a sampled token: then only batch_size=1 repeats bit for bit.
    """
    batch_size: BatchSize = 32
    """Conversations that are generated together; fewer need less memory."""
    revision: str = ""
    """Commit, tag or branch of a model on a hub; empty for its default."""
    date: str = "2025-08-05"
    """The date in a chat template that asks for it; fixed, so that a request always
    gives the same prompt.
    """


@dataclass(frozen=True, kw_only=True)
class OpenAIConfig:
    """A server that speaks OpenAI's chat completions: vLLM, llama.cpp, hosted
    providers.
    """

    source: str
    """Base URL, e.g. http://localhost:8000/v1."""
    model: str = ""
    """Name of the model on the server; may be empty if the server has only one."""
    api_key_env: str = "OPENAI_API_KEY"
    """Environment variable that holds the key; servers without keys need none."""
    timeout: Annotated[float, Gt(0)] = 600.0
    """Seconds for one whole answer, without pauses that the server asks for."""
    max_bytes: Annotated[int, Ge(1)] = 8_000_000
    """Largest answer in bytes."""
    longest_wait: Annotated[float, Ge(0)] = 3600.0
    """Longest pause in seconds that the server may ask for (Retry-After) without
    stopping the run.
    """
    retries: Annotated[int, Ge(0)] = 5
    """Retries, with growing pauses, after a lost connection or an answer 408, 409, 429
    or 5xx. A 429 does not count while the server answers other requests.
    """
    send_effort: bool = True
    """Whether to send `reasoning_effort`, which models without reasoning may refuse."""
    limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """The server's name of the limit on tokens."""

    def __post_init__(self) -> None:
        if urlsplit(self.source).scheme not in {"http", "https"}:
            raise ConfigError(
                f"model.source: wanted a URL, e.g. http://localhost:8000/v1, got {self.source!r}"
            )
        if urlsplit(self.source).password is not None:
            raise ConfigError(
                "model.source: wanted a URL without a password, which would stand in every file of the run: put it into"
                " an environment variable and name that with model.api_key_env"
            )
