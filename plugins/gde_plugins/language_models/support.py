"""Whether gde can ask a model of transformers, and read its residual stream.

Architectures differ in ways that no configuration tells, so each model is tried on a
few tokens when it is loaded. A failure then costs a sentence instead of a run.
"""

from collections.abc import Sequence
from threading import Event
from typing import Any

import torch

from gde.data.activations import EMBEDDING, CaptureRequest, TokenSequence
from gde.data.place import ATTENTION, HEAD, MLP, RESIDUAL
from gde.errors import GdeError
from gde_plugins.language_models.capturing import Reader
from gde_plugins.language_models.generation import Decoder
from gde_plugins.language_models.places import decoder_layers, number_of_heads

CHOOSE = "choose a model of attention layers alone, such as GPT-OSS, Llama or Qwen3"
LONGER, SHORTER = (0, 1, 2), (1,)
"""Prompts of unequal length, so that a batch of both is padded."""
POSITION = "last"


def check_answers(model: Any, whose: str) -> None:
    """Read two prompts in one batch and continue both.

    Raises:
        GdeError: the model keeps a recurrent state, or cannot do it.
    """
    architecture = type(model).__name__
    # Such a state depends on padding and cannot be read in pieces: some of these models
    # fail at long prompts alone, others give wrong tokens.
    if model._is_stateful:
        raise GdeError(
            f"{whose}: {architecture} keeps a recurrent state, which gde cannot batch; {CHOOSE}"
        )
    try:
        with torch.inference_mode():
            prompts = [(LONGER, ()), (SHORTER, ())]
            decoder = Decoder.begin(model, prompts, Event())
            decoder.advance([0], [1])
    except Exception as error:
        # Foreign code raises anything at all.
        raise GdeError(
            f"{whose}: {architecture} cannot continue prompts in batches: {_line(error)}; {CHOOSE}"
        ) from error


def readable_layers(model: Any) -> int:
    """Return the number of layers whose output can be read; 0 if reading fails."""
    try:
        n_layers = len(decoder_layers(model))
        widths = _widths(Reader(model, 1), RESIDUAL, (EMBEDDING, *range(n_layers)))
    except Exception:
        # Such a model can still be asked: only its activations are missing.
        return 0
    width = model.config.get_text_config().hidden_size
    return n_layers if widths == {width} else 0


def readable_heads(model: Any) -> tuple[int, int]:
    """Return the number of heads of a layer and the width of each.

    Both are 0 if any of attention, MLP and heads cannot be read in all layers.
    """
    try:
        n_heads = number_of_heads(model)
        layers = range(len(decoder_layers(model)))
        reader = Reader(model, 1)
        blocks = _widths(reader, ATTENTION, layers) | _widths(reader, MLP, layers)
        (head,) = _widths(reader, f"{HEAD}{n_heads - 1}", layers)
    except Exception:
        return 0, 0
    width = model.config.get_text_config().hidden_size
    return (n_heads, head) if blocks == {width} and head else (0, 0)


def _widths(reader: Reader, place: str, layers: Sequence[int]) -> set[int]:
    """Return the widths of the activations of one token at a place of these layers."""
    sequence = TokenSequence(tokens=LONGER, positions={POSITION: (2,)})
    request = CaptureRequest(layers=tuple(layers), positions=(POSITION,), place=place)
    (record,) = reader.capture([sequence], request)
    return {record.values[layer, POSITION].shape[-1] for layer in layers}


def _line(error: Exception) -> str:
    """Return an exception in one line of limited length."""
    text = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {text}"
