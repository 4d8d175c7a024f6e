"""Whatever the architecture: what is read is the model's own hidden states, and what is
changed goes on from there.
"""

from collections.abc import Callable
from threading import Event
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from torch import nn

from gde.data.activations import EMBEDDING, CaptureRequest, Intervention, TokenSequence
from gde.errors import GdeError
from gde_plugins.language_models.capturing import Reader
from gde_plugins.language_models.generation import Decoder
from gde_plugins.language_models.places import decoder_layers
from gde_plugins.language_models.residual_stream import Change

RELATIVE = 1e-5
VOCABULARY, WIDTH, DEPTH = 40, 32, 3
LLAMA_LIKE = {
    "vocab_size": VOCABULARY,
    "hidden_size": WIDTH,
    "num_hidden_layers": DEPTH,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "intermediate_size": 48,
    "max_position_embeddings": 128,
    "initializer_range": 0.3,
}
MIXTURE = {"num_local_experts": 4, "num_experts_per_tok": 2}
OF_GPT2 = {
    "vocab_size": VOCABULARY,
    "n_embd": WIDTH,
    "n_layer": DEPTH,
    "n_head": 4,
    "n_positions": 128,
}
NEOX = {
    key: LLAMA_LIKE[key]
    for key in LLAMA_LIKE
    if key not in {"num_key_value_heads", "head_dim"}
}
ARCHITECTURES: dict[str, tuple[str, dict[str, Any], str]] = {
    "gpt-oss": ("GptOss", {**LLAMA_LIKE, **MIXTURE, "sliding_window": 8}, "norm"),
    "llama": ("Llama", LLAMA_LIKE, "norm"),
    "qwen3": ("Qwen3", LLAMA_LIKE, "norm"),
    "gemma": ("Gemma2", {**LLAMA_LIKE, "sliding_window": 8}, "norm"),
    "gpt2": ("GPT2", {**OF_GPT2, "initializer_range": 0.3}, "ln_f"),
    "mixtral": ("Mixtral", {**LLAMA_LIKE, **MIXTURE}, "norm"),
    "gpt-neox": ("GPTNeoX", NEOX, "final_layer_norm"),
    "falcon": ("Falcon", {"vocab_size": VOCABULARY, "hidden_size": WIDTH, "num_hidden_layers": DEPTH,
                          "num_attention_heads": 4, "initializer_range": 0.3}, "ln_f"),
    "mpt": ("Mpt", {"vocab_size": VOCABULARY, "d_model": WIDTH, "n_layers": DEPTH, "n_heads": 4, "max_seq_len": 128},
            "norm_f"),
}  # fmt: skip
TOKENS = tuple(
    int(token) for token in np.random.default_rng(0).integers(3, VOCABULARY, size=20)
)
POSITIONS = {"pre": (9, 10, 11), "last": (17, 18, 19)}
LAYERS = (EMBEDDING, *range(DEPTH))


@pytest.fixture(scope="module", params=ARCHITECTURES)
def built(request: pytest.FixtureRequest) -> tuple[Any, Callable[[Any], Any]]:
    """A model of random weights in float32, and its own last normalisation."""
    name, shape, norm = ARCHITECTURES[request.param]
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = getattr(transformers, f"{name}Config")(**shape)
        model = transformers.AutoModelForCausalLM.from_config(
            config, dtype=torch.float32
        ).eval()
    return model, getattr(model.get_decoder(), norm)


def sequence(*changes: Intervention) -> TokenSequence:
    return TokenSequence(tokens=TOKENS, positions=POSITIONS, interventions=changes)


def streams(model: Any, *changes: Intervention) -> dict[tuple[int, str], Any]:
    (record,) = Reader(model, 4).capture(
        [sequence(*changes)], CaptureRequest(layers=LAYERS, positions=tuple(POSITIONS))
    )
    return dict(record.values)


def logits(model: Any, *changes: Intervention) -> torch.Tensor:
    """(V,) of the token after the sequence."""
    with torch.inference_mode():
        (last,) = Decoder.begin(
            model, [(TOKENS, Change.of(changes, POSITIONS))], Event()
        ).logits
    return last


def close(first: Any, second: Any) -> bool:
    """To one part in a hundred thousand of the largest."""
    return bool(
        np.abs(np.asarray(first) - np.asarray(second)).max()
        <= RELATIVE * np.abs(np.asarray(second)).max()
    )


def test_what_is_read_is_the_models_own_hidden_states(
    built: tuple[Any, Callable[[Any], Any]],
) -> None:
    model, norm = built
    read = streams(model)
    with torch.inference_mode():
        truth = model(
            input_ids=torch.tensor([TOKENS]), output_hidden_states=True, use_cache=False
        ).hidden_states
        for (layer, position), values in read.items():
            # What transformers calls the last hidden state has been normalised; the
            # residual stream has not.
            ours = norm(torch.tensor(values)).numpy() if layer == DEPTH - 1 else values
            assert close(
                ours, truth[layer + 1][0, list(POSITIONS[position])].numpy()
            ), (layer, position)
    assert len(read) == len(LAYERS) * len(POSITIONS)


def test_a_change_goes_on_from_where_it_is_made(
    built: tuple[Any, Callable[[Any], Any]],
) -> None:
    model, _ = built
    plain, before = logits(model), streams(model)
    for layer in LAYERS:
        rows = before[layer, "last"]
        same = Intervention(layer=layer, position="last", kind="replace", vector=rows)
        other = Intervention(
            layer=layer, position="last", kind="replace", vector=-rows[::-1]
        )
        assert close(logits(model, same), plain)
        assert (logits(model, other) - plain).abs().max() > 1e-2 * plain.abs().max()
        after = streams(model, other)
        assert close(after[layer, "last"], other.vector)
        assert all(
            close(after[each, position], before[each, position])
            for each, position in before
            if each < layer
        )
        assert not any(
            close(after[each, "last"], before[each, "last"])
            for each in range(layer + 1, DEPTH)
        )


def test_there_are_as_many_layers_as_the_configuration_says(
    built: tuple[Any, Callable[[Any], Any]],
) -> None:
    assert len(decoder_layers(built[0])) == DEPTH


def test_a_model_without_a_list_of_layers_is_named() -> None:
    class Odd(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.config = transformers.LlamaConfig(**LLAMA_LIKE)
            self.layers = nn.ModuleList([nn.Identity()])

        def get_decoder(self) -> nn.Module:
            return self

    with pytest.raises(GdeError, match="Odd: found no list of 3 decoder layers"):
        decoder_layers(Odd())
