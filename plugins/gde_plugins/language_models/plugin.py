"""Offers the language models."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gde.errors import GdeError
from gde.hookspecs import hookimpl
from gde.offers import Capability, ModelOffer

if TYPE_CHECKING:
    from gde.data.footprint import Footprint
    from gde.parts.context import Context
    from gde.parts.language_model import LanguageModel
    from gde_plugins.language_models.config import (
        CapturedConfig,
        GgufConfig,
        HfConfig,
        NanoConfig,
        OpenAIConfig,
    )

LOCAL_IMPORTS = ("torch", "transformers", "safetensors", "jinja2")


def _embedded() -> Sequence[str]:
    from gde_plugins.language_models.local_weights import embedded

    return embedded()


def _downloaded() -> Sequence[str]:
    from gde_plugins.language_models.local_weights import downloaded

    return downloaded()


def _footprint(config: "HfConfig") -> "Footprint | None":
    from gde_plugins.language_models.footprint import footprint

    return footprint(config)


def make_nano(config: "NanoConfig", _: "Context") -> "LanguageModel":
    """Make an embedded model, on the CPU: every machine gives the same tokens."""
    from gde_plugins.language_models.nano import NOTICES, folder, model_name
    from gde_plugins.language_models.nano.architecture import untrained_model
    from gde_plugins.language_models.transformers_model import TransformersModel

    return TransformersModel.load(
        folder(config.source),
        device="cpu",
        dtype=config.dtype,
        batch_size=config.batch_size,
        name=model_name(config.source),
        notice=NOTICES[config.source],
        initial=untrained_model,
    )


def make_hf(config: "HfConfig", _: "Context") -> "LanguageModel":
    """Make a model of transformers."""
    return _loaded(config, f"hf:{config.source}", config.revision or None)


def make_gguf(config: "GgufConfig", _: "Context") -> "LanguageModel":
    """Make a model of transformers from a file of llama.cpp."""
    return _loaded(config, f"gguf:{config.source}")


def _loaded(
    config: "HfConfig | GgufConfig", name: str, revision: str | None = None
) -> "LanguageModel":
    from gde_plugins.language_models.transformers_model import TransformersModel

    return TransformersModel.load(
        config.source,
        device=config.device,
        dtype=config.dtype,
        batch_size=config.batch_size,
        revision=revision,
        date=config.date,
        name=name,
    )


def make_openai(config: "OpenAIConfig", context: "Context") -> "LanguageModel":
    """Make a model behind a server."""
    from gde_plugins.language_models.openai_model import OpenAIModel

    key = context.secret(config.api_key_env)
    headers = {}
    for name, value in config.headers.items():
        told = value
        if value.startswith("$"):
            told = context.secret(value.removeprefix("$"))
        # A variable without a value gives no header.
        if told:
            headers[name] = told
    return OpenAIModel(config, key, headers)


def make_captured(config: "CapturedConfig", _: "Context") -> "LanguageModel":
    """Refuse to make a model: none is there.

    Raises:
        GdeError: always.
    """
    raise GdeError(
        f"captured:{config.source} stands for activations in a run, and is no model that could be asked: name weights,"
        " e.g. hf:PATH_OR_ID"
    )


@hookimpl
def gde_language_models() -> "Sequence[ModelOffer[Any, LanguageModel]]":
    """Offer captured, nano, hf, gguf and openai."""
    from gde_plugins.language_models.config import (
        CapturedConfig,
        GgufConfig,
        HfConfig,
        NanoConfig,
        OpenAIConfig,
    )

    return (
        ModelOffer(
            name="captured",
            summary="captured:DIGEST, activations that `gde.probe(RUN, activations=...)` stored in a run",
            config=CapturedConfig,
            make=make_captured,
            gives={Capability.ACTIVATIONS},
            captured=True,
        ),
        ModelOffer(
            name="nano",
            summary="nano, nano:plain or nano:turns, models of GPT-OSS's architecture with two million parameters",
            config=NanoConfig,
            make=make_nano,
            version=2,
            gives={
                Capability.ACTIVATIONS,
                Capability.ACTION_PROBS,
                Capability.INTERVENTIONS,
            },
            imports=(*LOCAL_IMPORTS, "transformers.models.gpt_oss.modeling_gpt_oss"),
            extra="llm",
            task="walking in text grids",
            local_weights=_embedded,
            batches=True,
        ),
        ModelOffer(
            name="hf",
            summary="hf:PATH_OR_ID, any attention-based language model of transformers with a chat template",
            config=HfConfig,
            make=make_hf,
            gives={
                Capability.ACTIVATIONS,
                Capability.ACTION_PROBS,
                Capability.INTERVENTIONS,
            },
            imports=LOCAL_IMPORTS,
            extra="llm",
            local_weights=_downloaded,
            footprint=_footprint,
        ),
        ModelOffer(
            name="gguf",
            summary="gguf:FILE, weights of llama.cpp, read by transformers",
            config=GgufConfig,
            make=make_gguf,
            gives={
                Capability.ACTIVATIONS,
                Capability.ACTION_PROBS,
                Capability.INTERVENTIONS,
            },
            imports=(*LOCAL_IMPORTS, "gguf"),
            extra="gguf",
        ),
        ModelOffer(
            name="openai",
            summary="openai:MODEL@URL, any OpenAI-compatible server",
            config=OpenAIConfig,
            make=make_openai,
            version=2,
            gives={Capability.ANSWER_FORMS},
            imports=("openai", "aiohttp"),
            extra="openai",
            served=True,
        ),
    )
