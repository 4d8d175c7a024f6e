"""GPT-OSS's attention by PyTorch's fused kernel, which knows no sinks.

A sink is a logit of each head that takes a share of the attention and gives nothing.
That is one more key, whose logit the mask gives and whose value is zero. The numbers are
those of the attention in transformers, which writes every logit to memory several times.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad, scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

FUSED_SINKS = "gde_fused_sinks"
"""Name of this attention in transformers."""
EXACT = (torch.float32, torch.float64)
"""In 16 bits the kernel rounds less often than transformers, so its numbers differ."""
QUERIES = 64
"""Queries that are answered together, by those keys alone that one of them may see."""


def fuse_sinks(model: Any) -> None:
    """Let a GPT-OSS model on the CPU attend by the fused kernel; leave all others."""
    if model.config.model_type != "gpt_oss" or model.dtype not in EXACT:
        return
    AttentionInterface.register(FUSED_SINKS, _attend)
    AttentionMaskInterface.register(FUSED_SINKS, eager_mask)
    model.set_attn_implementation(FUSED_SINKS)


def _attend(
    _module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor,
    *,
    scaling: float,
    sliding_window: int | None,
    s_aux: Tensor,
    **_unused: Any,
) -> tuple[Tensor, None]:
    """Return (B, T, heads, width) outputs, and no attention weights.

    Args:
        query: (B, heads, T, width), of the last tokens.
        key: (B, heads of keys, S, width).
        value: as `key`.
        attention_mask: (B, 1, T, S), added to the logits.
        scaling: of the logits.
        sliding_window: number of keys that a query may see; None for all before it.
        s_aux: (heads,) sinks.
    """
    length = query.shape[2]
    earlier = key.shape[2] - length
    outputs = []
    for start in range(0, length, QUERIES):
        end = min(start + QUERIES, length)
        first = max(0, earlier + start + 1 - sliding_window) if sliding_window else 0
        seen = slice(first, earlier + end)
        output = _with_sinks(
            query[:, :, start:end],
            key[:, :, seen],
            value[:, :, seen],
            attention_mask[:, :, start:end, seen],
            scaling,
            s_aux,
        )
        outputs.append(output)
    return torch.cat(outputs, dim=2).transpose(1, 2).contiguous(), None


def _with_sinks(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor,
    scaling: float,
    sinks: Tensor,
) -> Tensor:
    rows, heads, length, _ = query.shape
    of_keys = mask.expand(rows, heads, length, -1)
    of_sinks = sinks.view(1, heads, 1, 1).expand(rows, heads, length, 1)

    one_more_key = (0, 0, 0, 1)
    return scaled_dot_product_attention(
        query,
        pad(key, one_more_key),
        pad(value, one_more_key),
        attn_mask=torch.cat([of_keys, of_sinks], dim=-1),
        scale=scaling,
        enable_gqa=True,
    )
