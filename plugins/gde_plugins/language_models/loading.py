"""Finds and loads a model of transformers, with one clear message on failure."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging as transformers_logging

from gde.errors import GdeError
from gde_plugins.language_models.attention_sinks import fuse_sinks
from gde_plugins.language_models.config import GGUF
from gde_plugins.language_models.gguf_cache import converted
from gde_plugins.language_models.local_weights import digests, file_digest

ADAPTER = "adapter_config.json"
WANTED = "a folder with config.json, *.safetensors and tokenizer files, or the id of a model on a hub"


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """A model ready for inference."""

    model: Any
    tokenizer: Any
    versions: dict[str, str]
    """Identity of the weights and the software."""


def load(
    source: str | Path, *, device: str, dtype: str, revision: str | None
) -> Loaded:
    """Load a model and its tokenizer.

    Nothing is downloaded that transformers would not download itself.

    Raises:
        GdeError: there is no such model, it cannot be read, or the device is not there.
    """
    place = _device(device)
    with quiet():
        found, versions = _find(source, revision)
        try:
            tokenizer = AutoTokenizer.from_pretrained(
                found, revision=revision, trust_remote_code=False
            )
            model = _model(found, place, dtype, revision)
        except Exception as error:
            # On a damaged file transformers raises anything at all.
            reason = " ".join(str(error).split())[:300] or repr(error)
            raise GdeError(
                f"hf:{source}: wanted {WANTED}; could not load it: {reason}"
            ) from error
    commit = getattr(model.config, "_commit_hash", None)
    if commit:
        versions["revision"] = commit
    versions["dtype"] = str(model.dtype)
    for package in ("torch", "transformers"):
        versions[package] = version(package)
    return Loaded(model=model, tokenizer=tokenizer, versions=versions)


def _find(source: str | Path, revision: str | None) -> tuple[str, dict[str, str]]:
    """Return the source for transformers, and the digests of local files."""
    if isinstance(source, str) and source.startswith(("/", ".", "~")):
        source = Path(source).expanduser()
    if isinstance(source, str):
        # Transformers would take the folder.
        if Path(source).exists():
            raise GdeError(
                f"hf:{source}: {source} is a folder here; name it hf:./{source}, or start elsewhere for a hub's model"
            )
        return source, {"hub": f"{source}@{revision or 'default'}"}
    if (source / ADAPTER).exists():
        raise GdeError(
            f"hf:{source}: {ADAPTER} names weights elsewhere: merge the adapter into its model, and name that"
        )
    if source.is_dir():
        return str(source), digests(source)
    if source.is_file() and source.suffix == GGUF:
        return str(converted(source)), {"weights": file_digest(source)}
    found = "another kind of file" if source.exists() else "nothing"
    raise GdeError(f"hf:{source}: wanted {WANTED}; got {found} there")


def _device(device: str) -> str:
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise GdeError(
            f"model.device: wanted auto, cpu or a device of this machine, got {device!r}: {reason}"
        ) from error
    return device


def _model(found: str, device: str, dtype: str, revision: str | None) -> Any:
    # On the CPU no device map is given, for that alone would need the package
    # accelerate.
    on_accelerator = {} if device == "cpu" else {"device_map": device}
    automatic: Any = AutoModelForCausalLM
    model, report = automatic.from_pretrained(
        found,
        revision=revision,
        dtype=dtype,
        output_loading_info=True,
        trust_remote_code=False,
        use_safetensors=True,
        **on_accelerator,
    )
    if missing := sorted(report["missing_keys"]):
        raise ValueError(f"the weights lack {len(missing)} tensors, e.g. {missing[0]}")
    choose_kernels(model)
    return model.eval()


def choose_kernels(model: Any) -> None:
    """Choose what is fastest on the CPU: fused attention, and a loop over experts.

    That loop is also the only one with float64.
    """
    if model.device.type != "cpu":
        return
    fuse_sinks(model)
    if model._can_set_experts_implementation():
        model.set_experts_implementation("eager")


@contextmanager
def quiet() -> Iterator[None]:
    """Silence progress bars and advice of transformers; stderr belongs to gde."""
    logging: Any = transformers_logging
    verbosity = logging.get_verbosity()
    bars = logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
