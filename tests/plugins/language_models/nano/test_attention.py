"""The attention of training is the model's own, and so are its gradients."""

from typing import Any

import pytest
import torch

from gde_plugins.language_models.nano.architecture import untrained_model
from gde_plugins.language_models.nano.attention import use_fused_attention
from gde_plugins.language_models.nano.tokenizer import build_tokenizer


@pytest.mark.parametrize("length", [40, 150])
def test_outputs_and_gradients_equal_those_of_plain_attention(length: int) -> None:
    """The longer sequence does not fit into the sliding window."""
    model: Any = untrained_model(build_tokenizer(), 0)
    with torch.no_grad():
        for layer in model.model.layers:
            layer.self_attn.sinks.copy_(torch.linspace(-2, 2, 6))
    tokens = torch.randint(
        0, 900, (2, length), generator=torch.Generator().manual_seed(0)
    )

    def run() -> tuple[torch.Tensor, torch.Tensor]:
        model.zero_grad()
        logits = model(input_ids=tokens, use_cache=False).logits
        logits.logsumexp(-1).mean().backward()
        return logits.detach(), torch.cat(
            [parameter.grad.flatten() for parameter in model.parameters()]
        )

    plain_logits, plain_gradient = run()
    use_fused_attention(model)
    logits, gradient = run()
    torch.testing.assert_close(logits, plain_logits, rtol=1e-4, atol=1e-4)
    assert (gradient - plain_gradient).norm() < 1e-4 * plain_gradient.norm()
    sinks = model.model.layers[0].self_attn.sinks.grad
    assert sinks.abs().min() > 0
