"""What of the language models can be chosen."""

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
    """Which training: with auxiliary losses that put agent and goal where probes read,
    as `nano` alone names, or nano:plain, without.
    """
    dtype: Dtype = "float64"
    """Arithmetic; in float64 the company in a batch cannot change a sampled token."""
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
    """Arithmetic; auto is that of the checkpoint. Below float64 the company in a batch
    can change a token that lies on the edge between two: only batch_size=1 repeats bit
    for bit then.
    """
    batch_size: BatchSize = 32
    """Conversations that are generated together; fewer need less memory."""
    revision: str = ""
    """Commit, tag or branch of a model on a hub; empty for its default."""
    date: str = "2025-08-05"
    """What a chat template is told when it asks for the day; fixed, so that a request
    gives one prompt for ever.
    """


@dataclass(frozen=True, kw_only=True)
class OpenAIConfig:
    """A server that speaks OpenAI's chat completions: vLLM, llama.cpp, hosted
    providers.
    """

    source: str
    """Base URL, e.g. http://localhost:8000/v1."""
    model: str = ""
    """Name of the model on the server; may stay empty where the server has only one."""
    api_key_env: str = "OPENAI_API_KEY"
    """Environment variable that holds the key; servers without keys need none."""
    timeout: Annotated[float, Gt(0)] = 600.0
    """Seconds for one whole answer, not counted what the server wants to be left
    alone.
    """
    max_bytes: Annotated[int, Ge(1)] = 8_000_000
    """Of an answer; a longer one is broken off."""
    longest_wait: Annotated[float, Ge(0)] = 3600.0
    """Seconds that the server may want to be left alone (Retry-After); where it wants
    more, the run stops.
    """
    retries: Annotated[int, Ge(0)] = 5
    """Further tries, with growing pauses, after a lost connection or an answer 408,
    409, 429 or 5xx. Where the server answers others meanwhile, 429 is no lost try.
    """
    send_effort: bool = True
    """Whether the server takes `reasoning_effort`; models that do not reason may refuse
    it.
    """
    limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """How the server calls the longest answer."""

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
