"""nano's architecture, that of GPT-OSS on a small scale, and its initial weights."""

from functools import cache
from typing import Any

import torch
from torch import Tensor
from transformers import GptOssConfig, GptOssForCausalLM, PreTrainedTokenizerFast

WIDTH = 128
EMBEDDING_SCALE = 0.5
FEATURE_SCALE = 0.7
UNEMBEDDING_SCALE = 0.08
ROUTER_SCALE = 0.02


def configuration(tokenizer: PreTrainedTokenizerFast) -> GptOssConfig:
    """Configure six layers with sinks and four experts, of which two are active.

    Sliding and full attention alternate.
    """
    shape: Any = GptOssConfig
    config: GptOssConfig = shape(
        vocab_size=len(tokenizer),
        hidden_size=WIDTH,
        num_hidden_layers=6,
        num_attention_heads=6,
        num_key_value_heads=3,
        head_dim=32,
        intermediate_size=128,
        num_local_experts=4,
        num_experts_per_tok=2,
        sliding_window=128,
        max_position_embeddings=8192,
        tie_word_embeddings=False,
        # Cells are looked up by their coordinates however far away they are. Plain
        # rotary positions turn half of a head's dimensions too fast for that; YaRN
        # leaves the fast ones as they are and nearly stops the slow ones.
        rope_parameters={
            "rope_type": "yarn",
            "rope_theta": 10000.0,
            "factor": 32.0,
            "beta_fast": 4.0,
            "beta_slow": 1.0,
            "truncate": False,
            "original_max_position_embeddings": 256,
            "attention_factor": 1.0,
        },
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
        router_aux_loss_coef=0.0,
    )
    return config


def untrained_model(tokenizer: PreTrainedTokenizerFast, seed: int) -> GptOssForCausalLM:
    """Make a freshly initialised model, without a change of the global random state."""
    config: Any = configuration(tokenizer)
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(seed)
        model: Any = GptOssForCausalLM(config)
        embedding = model.model.embed_tokens.weight
        embedding.copy_(
            _embedding(tokenizer, torch.randn_like(embedding) * EMBEDDING_SCALE)
        )
        model.lm_head.weight.copy_(embedding * UNEMBEDDING_SCALE)
        for layer in model.model.layers:
            torch.nn.init.normal_(layer.mlp.router.weight, 0, ROUTER_SCALE)
            layer.self_attn.sinks.zero_()
    model.set_experts_implementation("eager")
    trained: GptOssForCausalLM = model
    return trained


def _embedding(tokenizer: PreTrainedTokenizerFast, random: Tensor) -> Tensor:
    """(V, width) random vectors in which tokens that name a row or a column begin
    alike.

    The first quarter holds waves of the row, the second those of the column, so that
    "one row further up" is one rotation for all 625 coordinate tokens and need not be
    learned for each of them.
    """
    quarter = WIDTH // 4
    for token, index in tokenizer.get_vocab().items():
        row, column = _place(token)
        if row is not None:
            random[index, :quarter] = _waves(row, quarter)
        if column is not None:
            random[index, quarter : 2 * quarter] = _waves(column, quarter)
    return random


def _place(token: str) -> tuple[int | None, int | None]:
    """Return the row and the column that a token names.

    `\\n3` names a row, `3` a column, ` 3,4` both.
    """
    name = token.strip(" ")
    if name.isdigit():
        return None, int(name)
    if name.startswith("\n") and name[1:].isdigit():
        return int(name[1:]), None
    row, _, column = name.partition(",")
    if row.isdigit() and column.isdigit():
        return int(row), int(column)
    return None, None


@cache
def _waves(index: int, n: int) -> Tensor:
    """(n,) sines and cosines of an index, wavelengths from 4 cells in geometric
    steps.
    """
    frequencies = torch.pi / (2 * 1.6 ** (torch.arange(n // 2) * 16 / n))
    angles = frequencies * index
    return torch.cat([torch.sin(angles), torch.cos(angles)]) * FEATURE_SCALE
