"""The model that a training begins with: a small new one, or a base with adapters."""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gde.errors import ConfigError
from gde_plugins.reward_classifier.scorer import (
    classifier,
    import_peft,
    quietly,
    tokenizer_of,
)
from reward_classifier_training.recipe import Recipe

WORDS = 4000
UNKNOWN, PAD = "[unknown]", "[pad]"
WORD = re.compile(r"\w+|[^\w\s]")
LONGEST = 2048


def new_tokenizer(texts: Iterable[str]) -> Any:
    """One token a word or sign: those that are most frequent."""
    from tokenizers import Regex, Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.normalizers import Lowercase
    from tokenizers.pre_tokenizers import Split
    from transformers import PreTrainedTokenizerFast

    counts = Counter(word for text in texts for word in WORD.findall(text.lower()))
    ranked = sorted(counts, key=lambda word: (-counts[word], word))[:WORDS]
    core = Tokenizer(
        WordLevel(
            {word: i for i, word in enumerate([UNKNOWN, PAD, *ranked])},
            unk_token=UNKNOWN,
        )
    )
    core.normalizer = Lowercase()
    core.pre_tokenizer = Split(Regex(r"\s+|(?=[^\w\s])|(?<=[^\w\s])"), "removed")
    return PreTrainedTokenizerFast(
        tokenizer_object=core, unk_token=UNKNOWN, pad_token=PAD
    )  # type: ignore[no-untyped-call]


def new_model(tokenizer: Any, recipe: Recipe) -> Any:
    """A Llama of two layers."""
    import transformers

    # Its classes are generated, and their arguments known to no type checker.
    library: Any = transformers
    return library.LlamaForSequenceClassification(
        library.LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=4,
            max_position_embeddings=min(recipe.max_length, LONGEST),
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=None,
            eos_token_id=None,
            num_labels=1,
        )
    )


def begin(base: str, tokenizer: Any, rank: int, alpha: int) -> Any:
    """The classifier of a base model with a new head, and with adapters where they have
    a rank.
    """
    model = classifier(Path(base))
    model.config.pad_token_id = tokenizer.pad_token_id
    if not rank:
        return model
    peft = import_peft()
    config = peft.LoraConfig(
        task_type=peft.TaskType.SEQ_CLS,
        r=rank,
        lora_alpha=alpha,
        target_modules="all-linear",
        lora_dropout=0.0,
    )
    with quietly():
        return peft.get_peft_model(model, config)


def base_tokenizer(base: str) -> Any:
    """The tokenizer of a base model; what ends a text pads it where nothing else does.

    Raises:
        ConfigError: there is no such folder.
    """
    if not Path(base).is_dir():
        raise ConfigError(
            f"base: wanted scratch or the folder of a model, got {base!r}"
        )
    return tokenizer_of(Path(base))
