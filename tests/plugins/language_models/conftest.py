"""Randomly initialised models of a few thousand parameters, with a tokenizer of words
and a harmony template.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    GptOssConfig,
    GptOssForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

from gde_plugins.language_models.transformers_model import TransformersModel

SPECIAL = [
    "<|endoftext|>",
    "<|return|>",
    "<|call|>",
    "<|start|>",
    "<|end|>",
    "<|message|>",
    "<|channel|>",
]
WORDS = [
    "[unk]",
    "system",
    "user",
    "assistant",
    "analysis",
    "final",
    *(f"w{number}" for number in range(40)),
]
TEMPLATE = (
    "{{ '<|start|>system<|message|>' + (reasoning_effort or 'low') + '<|end|>' }}"
    "{%- for message in messages -%}"
    "{{ '<|start|>' + message.role + '<|message|>' + message.content + '<|end|>' }}"
    "{%- endfor -%}{{ '<|start|>assistant' if add_generation_prompt }}"
)


def write_tokenizer(folder: Path) -> int:
    """Put the tokenizer into a model's folder. Gives the number of its words."""
    words = {word: index for index, word in enumerate([*SPECIAL, *WORDS])}
    core = Tokenizer(models.WordLevel(words, unk_token="[unk]"))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=core,
        eos_token="<|return|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=SPECIAL[2:],
        chat_template=TEMPLATE,
    )
    tokenizer.save_pretrained(str(folder))
    return len(words)


WriteTokenizer = Callable[[Path], int]


@pytest.fixture(scope="session")
def tokenizer_into() -> WriteTokenizer:
    """See `write_tokenizer`."""
    return write_tokenizer


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GPT-OSS. Its sliding window (8) and context (160) are short enough for tests to
    leave them.
    """
    folder = tmp_path_factory.mktemp("tiny")
    config = GptOssConfig(
        vocab_size=write_tokenizer(folder),
        hidden_size=16,
        num_hidden_layers=4,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=8,
        intermediate_size=16,
        num_local_experts=4,
        num_experts_per_tok=2,
        sliding_window=8,
        max_position_embeddings=160,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
        initializer_range=0.5,
        eos_token_id=1,
        pad_token_id=0,
    )
    with torch.random.fork_rng():
        torch.manual_seed(7)
        GptOssForCausalLM(config).save_pretrained(str(folder))
    return folder


@pytest.fixture(scope="session")
def llama_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Llama: dense, full attention, tied embeddings."""
    folder = tmp_path_factory.mktemp("llama")
    config = LlamaConfig(
        vocab_size=write_tokenizer(folder),
        hidden_size=24,
        num_hidden_layers=3,
        num_attention_heads=3,
        num_key_value_heads=1,
        intermediate_size=32,
        max_position_embeddings=160,
        initializer_range=0.5,
        tie_word_embeddings=True,
        eos_token_id=1,
        pad_token_id=0,
        bos_token_id=None,
    )
    with torch.random.fork_rng():
        torch.manual_seed(8)
        LlamaForCausalLM(config).save_pretrained(str(folder))
    return folder


@pytest.fixture(scope="session")
def tiny(tiny_folder: Path) -> Iterator[TransformersModel]:
    """The model in float64."""
    model = TransformersModel.load(
        tiny_folder, device="cpu", dtype="float64", batch_size=16, name="tiny"
    )
    yield model
    model.close()
