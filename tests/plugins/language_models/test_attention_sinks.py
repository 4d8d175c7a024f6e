"""The fused attention gives every head of every layer what transformers gives it."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import DynamicCache, GptOssForCausalLM

from gde_plugins.language_models import attention_sinks
from gde_plugins.language_models.attention_sinks import FUSED_SINKS, fuse_sinks

ROUNDINGS = 500
"""Largest relative difference of a head's output, in steps of its floating-point type:
processors sum in other orders, and 103 was seen in float32, 8 in float64.
"""


def load(folder: Path, dtype: torch.dtype) -> Any:
    """The tiny model, with sinks that take much attention in some heads."""
    model: Any = GptOssForCausalLM.from_pretrained(
        str(folder), dtype=dtype, experts_implementation="eager"
    )
    random = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for layer in model.model.layers:
            layer.self_attn.sinks.normal_(0, 3, generator=random)
    return model.eval()


@torch.inference_mode()
def outputs_of_heads(model: Any, mask: Tensor) -> list[Tensor]:
    """(B, T, heads, width) outputs in each pass and layer.

    A prompt is read in two pieces, and then one token.
    """
    found = []

    def keep(_module: Any, inputs: tuple[Tensor]) -> None:
        rows, length, _ = inputs[0].shape
        found.append(inputs[0].view(rows, length, model.config.num_attention_heads, -1))

    hooks = [
        layer.self_attn.o_proj.register_forward_pre_hook(keep)
        for layer in model.model.layers
    ]
    random = torch.Generator().manual_seed(1)
    ids = torch.randint(10, 40, mask.shape, generator=random)
    positions = (mask.cumsum(-1) - 1).clamp(min=0)
    cache = DynamicCache(config=model.config)
    for start, end in ((0, 17), (17, 29), (29, 30)):
        model(
            input_ids=ids[:, start:end],
            attention_mask=mask[:, :end],
            position_ids=positions[:, start:end],
            past_key_values=cache,
        )
    for hook in hooks:
        hook.remove()
    return found


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("padding", ["none", "left", "right"])
def test_every_head_is_the_same(
    tiny_folder: Path,
    padding: str,
    dtype: torch.dtype,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(attention_sinks, "QUERIES", 5)
    mask = torch.ones(3, 30).long()
    if padding == "left":
        mask[0, :12] = 0
    if padding == "right":
        mask[0, 12:] = 0

    model = load(tiny_folder, dtype)
    wanted = outputs_of_heads(model, mask)
    fuse_sinks(model)
    assert model.config._attn_implementation == FUSED_SINKS
    got = outputs_of_heads(model, mask)

    assert len(got) == len(wanted) == 3 * model.config.num_hidden_layers
    for one, other in zip(got, wanted, strict=True):
        difference = (one - other).norm(dim=-1)
        close = ROUNDINGS * torch.finfo(dtype).eps
        assert (difference <= close * other.norm(dim=-1)).all()


def test_16_bits_are_left_to_transformers(tiny_folder: Path) -> None:
    model = load(tiny_folder, torch.bfloat16)
    fuse_sinks(model)
    assert model.config._attn_implementation == "eager"
