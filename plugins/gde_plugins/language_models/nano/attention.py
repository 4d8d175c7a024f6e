"""Attention with sinks on PyTorch's fused CPU kernel, for training: exact, and twice as
fast as the plain one.

A sink is a key with a learned logit and a zero value. The kernel knows no sinks, but
its output o and its log of the normaliser tell all: with the sink in the normaliser,
the output is o exp(log - log'). The kernel's backward pass, given that output and log',
then returns the gradients of queries, keys and values as they are.
"""

from functools import lru_cache
from typing import Any

import torch
from torch import Tensor
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

NAME = "nano_training"
_forward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
_backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward


class SinkAttention(torch.autograd.Function):
    """Queries, keys, values (B, H, T, D), sinks (H,), a float mask (T, T) or None for
    causal; returns (B, H, T, D).
    """

    @staticmethod
    def forward(
        ctx: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        sinks: Tensor,
        mask: Tensor | None,
        scale: float,
    ) -> Tensor:
        out: Tensor
        log_normaliser: Tensor
        out, log_normaliser = _forward(
            query, key, value, 0.0, mask is None, attn_mask=mask, scale=scale
        )
        total = torch.logaddexp(
            log_normaliser, sinks[:, None].expand_as(log_normaliser)
        )
        out = out * (log_normaliser - total).exp()[..., None]
        ctx.save_for_backward(query, key, value, out, total, sinks, mask)
        ctx.scale = scale
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, out, total, sinks, mask = ctx.saved_tensors
        grads = _backward(
            grad,
            query,
            key,
            value,
            out,
            total,
            0.0,
            mask is None,
            attn_mask=mask,
            scale=ctx.scale,
        )
        in_sink = (sinks[:, None] - total).exp()
        return *grads, -((grad * out).sum(-1) * in_sink).sum((0, 2)), None, None


def use_fused_attention(model: Any) -> None:
    """Train `model` with this attention. Rows may be padded on the right only, for no
    padding mask is looked at.
    """
    ALL_ATTENTION_FUNCTIONS.register(NAME, _attend)
    model.config._attn_implementation = NAME


def _attend(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    _mask: Tensor | None,
    scaling: float,
    sliding_window: int | None = None,
    **_: Any,
) -> tuple[Tensor, None]:
    """The interface that transformers calls."""
    length = query.shape[2]
    windowed = sliding_window is not None and sliding_window < length
    mask = _window(length, sliding_window) if windowed and sliding_window else None
    groups = module.num_key_value_groups
    key = key.repeat_interleave(groups, 1)
    value = value.repeat_interleave(groups, 1)
    out: Tensor = SinkAttention.apply(query, key, value, module.sinks, mask, scaling)  # type: ignore[no-untyped-call]
    return out.transpose(1, 2).contiguous(), None


@lru_cache(maxsize=512)
def _window(length: int, window: int) -> Tensor:
    """(length, length) 0 where a query sees a key, else minus infinity."""
    distance = torch.arange(length)[:, None] - torch.arange(length)
    return torch.zeros(length, length).masked_fill_(
        (distance < 0) | (distance >= window), float("-inf")
    )
