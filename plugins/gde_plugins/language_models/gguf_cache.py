"""Converts GGUF files to safetensors once.

transformers reads the former in tens of seconds, the latter in one.
"""

import shutil
import tempfile
from pathlib import Path

from platformdirs import user_cache_path

from gde.errors import GdeError
from gde_plugins.language_models.local_weights import file_digest


def converted(file: Path) -> Path:
    """Return a folder with the same model in float32 safetensors.

    Its name is the file's SHA-256.

    Raises:
        GdeError: the packages that read GGUF are missing, or the file cannot be read.
    """
    folder = user_cache_path("gde") / "gguf" / file_digest(file)
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(dir=folder.parent, prefix="unfinished-"))
        try:
            _convert(file, unfinished)
            # Move a new folder into place, unless another process has made the same.
            try:
                unfinished.replace(folder)
            except OSError:
                if not folder.exists():
                    raise
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    return folder


def _convert(file: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    try:
        # Without `dequantize` the weights stay packed and cannot be saved.
        model = AutoModelForCausalLM.from_pretrained(
            str(file.parent),
            gguf_file=file.name,
            dtype=torch.float32,
            quantization_config=GgufConfig(dequantize=True),
        )
        AutoTokenizer.from_pretrained(
            str(file.parent), gguf_file=file.name
        ).save_pretrained(str(folder))
        model.save_pretrained(str(folder))
    except ImportError as error:
        raise GdeError(
            f"hf:{file} needs accelerate and gguf: pip install 'gde-eval[gguf]'"
        ) from error
    except Exception as error:  # on a damaged file transformers raises anything at all
        raise GdeError(
            f"hf:{file}: wanted a GGUF file of a causal language model, got {error!r}"
        ) from error
