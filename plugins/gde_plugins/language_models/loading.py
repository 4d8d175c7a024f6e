"""Finds and loads a model of transformers, with one clear message on failure."""

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging as transformers_logging

from gde.errors import GdeError
from gde_plugins.language_models.attention_sinks import fuse_sinks
from gde_plugins.language_models.config import GGUF
from gde_plugins.language_models.footprint import refuse_too_large
from gde_plugins.language_models.gguf_cache import converted
from gde_plugins.language_models.local_weights import digests, file_digest, snapshot

ADAPTER = "adapter_config.json"
BALANCED = "balanced"
"""Not a device: accelerate shares out the layers among all cards."""
WANTED = "a folder with config.json, *.safetensors and tokenizer files, or the id of a model on a hub"


@dataclass(frozen=True, kw_only=True)
class Found:
    """A model that was found, and is not in memory yet."""

    make: Callable[[], Any]
    """Loads the model, ready for inference.

    It raises GdeError if the model cannot be read.
    """
    tokenizer: Any
    versions: dict[str, str]
    """Identity of the local files and of the software."""


def find(source: str | Path, *, device: str, dtype: str, revision: str | None) -> Found:
    """Find a model, and load its tokenizer.

    Nothing is downloaded that transformers would not download itself.

    Raises:
        GdeError: there is no such model, it cannot be read, or the device is not there.
    """
    place = _device(device)
    if folder := snapshot(source, revision):
        refuse_too_large(folder, place, dtype)
    found, versions = _find(source, revision)
    with _readable(source):
        tokenizer = AutoTokenizer.from_pretrained(
            found, revision=revision, trust_remote_code=False
        )
    versions |= software()

    def make() -> Any:
        with _readable(source):
            return _model(found, place, dtype, revision)

    return Found(make=make, tokenizer=tokenizer, versions=versions)


def software() -> dict[str, str]:
    """Return the versions of what computes."""
    return {package: version(package) for package in ("torch", "transformers")}


def versions_of(model: Any) -> dict[str, str]:
    """Return what only a loaded model tells of its identity."""
    versions = {"dtype": str(model.dtype)}
    if commit := getattr(model.config, "_commit_hash", None):
        versions["revision"] = commit
    return versions


@contextmanager
def _readable(source: str | Path) -> Iterator[None]:
    with quiet():
        try:
            yield
        except Exception as error:
            # On a damaged file transformers raises anything at all.
            reason = " ".join(str(error).split())[:300] or repr(error)
            raise GdeError(
                f"hf:{source}: wanted {WANTED}; could not load it: {reason}"
            ) from error


@dataclass(frozen=True, kw_only=True)
class Untrained:
    """A model with the architecture of another and random weights."""

    config: Any
    dtype: torch.dtype
    devices: dict[str, Any]
    """Modules to the devices that hold them, as in accelerate's `device_map`."""
    seed: int

    @classmethod
    def like(cls, model: Any, seed: int) -> "Untrained":
        """Describe it; nothing is made."""
        return cls(
            config=copy.deepcopy(model.config),
            dtype=model.dtype,
            devices=getattr(model, "hf_device_map", {"": model.device}),
            seed=seed,
        )

    def make(self) -> Any:
        """Initialise it where it will compute, which takes a card seconds."""
        one, *further = dict.fromkeys(self.devices.values())
        place = "cpu" if further else one
        with quiet(), torch.random.fork_rng(), torch.device(place):
            torch.manual_seed(self.seed)
            model: Any = AutoModelForCausalLM.from_config(  # type: ignore[no-untyped-call]
                self.config, dtype=self.dtype
            )
        if further:
            accelerate: Any = import_module("accelerate")
            model = accelerate.dispatch_model(model, self.devices)
        choose_kernels(model)
        return model.eval()


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
    has_card = torch.cuda.is_available()
    if device == "auto":
        return "cuda" if has_card else "cpu"
    if device == BALANCED and has_card:
        return device
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise GdeError(
            f"model.device: wanted auto, cpu, a device of this machine or, with cards, {BALANCED}; got {device!r}:"
            f" {reason}"
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
