"""Offers of language models."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Ge, Gt

from gde.hookspecs import hookimpl
from gde.offers import Facet, Offer

if TYPE_CHECKING:
    from gde.parts.language_model import LanguageModel

Dtype = Literal["auto", "float32", "bfloat16", "float16", "float64"]
BatchSize = Annotated[int, Ge(1)]
LOCAL_IMPORTS = ("torch", "transformers", "safetensors", "jinja2")


@dataclass(frozen=True, kw_only=True)
class NanoConfig:
    """The embedded model."""

    dtype: Dtype = "float64"
    """Arithmetic; in float64 the company in a batch cannot change a sampled token."""
    batch_size: BatchSize = 32
    """Conversations that are generated together."""


@dataclass(frozen=True, kw_only=True)
class HfConfig:
    """A causal language model of transformers with a chat template."""

    source: str
    """Folder with config, safetensors and tokenizer; or a GGUF file; or the id of a model on a hub."""
    device: str = "auto"
    """cpu, cuda or cuda:N; auto takes cuda where there is one."""
    dtype: Dtype = "auto"
    """Arithmetic; auto is that of the checkpoint. Below float64 the company in a batch can change a token that lies
    on the edge between two: only batch_size=1 repeats bit for bit then."""
    batch_size: BatchSize = 32
    """Conversations that are generated together; fewer need less memory."""
    revision: str = ""
    """Commit, tag or branch of a model on a hub; empty for its default."""
    date: str = "2025-08-05"
    """What a chat template is told when it asks for the day; fixed, so that a request gives one prompt for ever."""


@dataclass(frozen=True, kw_only=True)
class OpenAIConfig:
    """A server that speaks OpenAI's chat completions: vLLM, llama.cpp, hosted providers."""

    source: str
    """Base URL, e.g. http://localhost:8000/v1."""
    model: str = ""
    """Name of the model on the server; may stay empty where the server has only one."""
    api_key_env: str = "OPENAI_API_KEY"
    """Environment variable that holds the key; servers without keys need none."""
    timeout: Annotated[float, Gt(0)] = 600.0
    """Seconds to wait for one answer."""
    retries: Annotated[int, Ge(0)] = 5
    """Further tries, with growing pauses, after a lost connection or an answer 408, 409, 429 or 5xx."""
    send_effort: bool = True
    """Whether the server takes `reasoning_effort`; models that do not reason may refuse it."""
    limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """How the server calls the longest answer."""


def make_nano(config: NanoConfig) -> "LanguageModel":
    """The embedded model, on the CPU, so that every machine gives the same tokens."""
    from gde_plugins.language_models.nano import NOTICE, folder
    from gde_plugins.language_models.transformers_model import TransformersModel

    return TransformersModel.load(
        folder(), device="cpu", dtype=config.dtype, batch_size=config.batch_size, name="nano", notice=NOTICE
    )


def make_hf(config: HfConfig) -> "LanguageModel":
    """A model of transformers."""
    from gde_plugins.language_models.transformers_model import TransformersModel

    return TransformersModel.load(
        config.source,
        device=config.device,
        dtype=config.dtype,
        batch_size=config.batch_size,
        revision=config.revision or None,
        date=config.date,
    )


def make_openai(config: OpenAIConfig) -> "LanguageModel":
    """A model behind a server."""
    from gde_plugins.language_models.openai_model import OpenAIModel

    return OpenAIModel(config)


@hookimpl
def gde_language_models() -> "Sequence[Offer[Any, LanguageModel]]":
    """nano, hf and openai."""
    return (
        Offer(
            name="nano",
            summary="embedded GPT-OSS-class model of a million parameters that navigates text grids",
            config=NanoConfig,
            make=make_nano,
            gives=frozenset({Facet.ACTIVATIONS}),
            imports=LOCAL_IMPORTS,
            extra="llm",
        ),
        Offer(
            name="hf",
            summary="hf:PATH_OR_ID, any causal language model of transformers with a chat template",
            config=HfConfig,
            make=make_hf,
            gives=frozenset({Facet.ACTIVATIONS}),
            imports=LOCAL_IMPORTS,
            extra="llm",
        ),
        Offer(
            name="openai",
            summary="openai:BASE_URL, any OpenAI-compatible server",
            config=OpenAIConfig,
            make=make_openai,
            imports=("openai",),
            extra="openai",
        ),
    )
