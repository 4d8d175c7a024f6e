"""Whether gde can ask a model of transformers, and read its residual stream.

Architectures differ in ways that no configuration tells, so each model is tried on a
few tokens when it is loaded. A failure then costs a sentence instead of a run.
"""

from threading import Event
from typing import Any

import torch

from gde.data.activations import EMBEDDING, CaptureRequest, TokenSequence
from gde.errors import GdeError
from gde_plugins.language_models.capturing import Reader
from gde_plugins.language_models.generation import Decoder
from gde_plugins.language_models.residual_stream import decoder_layers

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
    sequence = TokenSequence(tokens=LONGER, positions={POSITION: (2,)})
    try:
        n_layers = len(decoder_layers(model))
        layers = (EMBEDDING, *range(n_layers))
        request = CaptureRequest(layers=layers, positions=(POSITION,))
        (record,) = Reader(model, 1).capture([sequence], request)
    except Exception:
        # Such a model can still be asked: only its activations are missing.
        return 0
    width = model.config.get_text_config().hidden_size
    shapes = {values.shape for values in record.values.values()}
    is_whole = len(record.values) == len(layers) and shapes == {(1, width)}
    return n_layers if is_whole else 0


def _line(error: Exception) -> str:
    """Return an exception in one line of limited length."""
    text = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {text}"
