"""A sequence classifier with one output, and the texts as it reads them."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import torch
from pydantic import BaseModel, TypeAdapter

from gde.errors import ConfigError, needing
from gde.foreign import ForeignFile
from gde_plugins.reward_classifier.texts import RULER

CARD, ADAPTER = "card.json", "adapter_config.json"


class _Recipe(BaseModel):
    max_length: int


class _Card(BaseModel):
    """What is needed of a card."""

    base: str
    domains: list[str]
    origins: dict[str, str]
    recipe: _Recipe


NEEDED = TypeAdapter(_Card)


@dataclass(frozen=True)
class Scorer:
    """The model and its tokenizer."""

    model: Any
    tokenizer: Any
    max_length: int

    @classmethod
    def load(cls, folder: Path, base: Path | None, device: str) -> Self:
        """Load the folder of a trained model; reads weights as safetensors and runs no
        code of the folder.

        Raises:
            ConfigError: the folder holds no trained model, or the base of its adapter
                is missing.
            MissingExtra: peft is not installed.
        """
        card = read_card(folder)
        adapted = (folder / ADAPTER).is_file()
        source = (base or Path(card["base"])) if adapted else folder
        if not source.is_dir():
            raise ConfigError(
                f"base: wanted the folder of the model that was adapted, got {str(source)!r}"
            )
        model = classifier(source)
        tokenizer = tokenizer_of(folder)
        if adapted:
            with quietly():
                model = import_peft().PeftModel.from_pretrained(model, str(folder))
        model.config.pad_token_id = tokenizer.pad_token_id
        return cls(model.to(device).eval(), tokenizer, card["recipe"]["max_length"])

    def batch(self, texts: Sequence[str]) -> dict[str, torch.Tensor]:
        """Token ids and mask of texts, padded on the right."""
        rows = [torch.tensor(self._ids(text)) for text in texts]
        pad = torch.nn.utils.rnn.pad_sequence
        ids = pad(rows, batch_first=True, padding_value=self.tokenizer.pad_token_id)
        mask = pad([torch.ones_like(row) for row in rows], batch_first=True)
        device = next(self.model.parameters()).device
        return {"input_ids": ids.to(device), "attention_mask": mask.to(device)}

    def rewards(self, texts: Sequence[str]) -> torch.Tensor:
        """(N,) one number a text."""
        rewards: torch.Tensor = self.model(**self.batch(texts)).logits[:, 0].float()
        return rewards

    def cut(self, text: str) -> bool:
        """Whether a text is too long to be read in full."""
        return (
            len(self.tokenizer(text, add_special_tokens=False)["input_ids"])
            > self.max_length
        )

    def _ids(self, text: str) -> list[int]:
        """Token ids; of a text that is too long those of the goal, which comes first,
        and of the end.
        """
        head, ruler, rest = text.partition(RULER)
        first: list[int] = self.tokenizer(head + ruler, add_special_tokens=False)[
            "input_ids"
        ]
        then: list[int] = (
            self.tokenizer(rest, add_special_tokens=False)["input_ids"] if rest else []
        )
        first = first[: self.max_length // 2] if then else first[: self.max_length]
        left = self.max_length - len(first)
        return [*first, *then[max(0, len(then) - left) :]] or [
            self.tokenizer.pad_token_id
        ]


def read_card(folder: Path, whose: str = "source") -> dict[str, Any]:
    """Read the card of a trained model: `base`, `domains`, `recipe`, `origins` of its
    tasks, and how it did.

    Args:
        folder: of the model.
        whose: the setting that names the folder.

    Raises:
        ConfigError: there is no card, or it does not tell what it was trained on.
    """
    file = ForeignFile(whose, folder / CARD)
    if not file.path.is_file():
        wanted = "the folder of a trained model"
        raise ConfigError(f"{whose}: wanted {wanted}, got {str(folder)!r}")
    card: dict[str, Any] = file.json()
    try:
        file.valid(NEEDED, card)
    except ConfigError as error:
        raise ConfigError(f"{error}: train it again") from error
    return card


@contextmanager
def quietly() -> Iterator[None]:
    """Without bars, and without the warning that peft asks for what transformers calls
    otherwise now, which is to be deleted when it no longer does.
    """
    from transformers.utils import logging

    bars = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings(
                "ignore", message=".*is_gradient_checkpointing", category=FutureWarning
            )
            yield
    finally:
        if bars:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def classifier(folder: Path) -> Any:
    """Load a model with one output, whose head is new unless the folder has one."""
    from transformers import AutoModelForSequenceClassification

    with quietly():
        return AutoModelForSequenceClassification.from_pretrained(
            str(folder), num_labels=1, dtype=torch.float32
        )


def tokenizer_of(folder: Path) -> Any:
    """Load a tokenizer; what ends a text pads it where nothing else does."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(folder))
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    return tokenizer


def import_peft() -> Any:
    """Import peft, or say how to install it."""
    with needing("adapters", "peft", "rewards"):
        import peft
    return peft
