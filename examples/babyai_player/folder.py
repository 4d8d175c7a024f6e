"""The folder of a trained player: weights as safetensors, and a card with digests."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from safetensors import SafetensorError
from safetensors.torch import load, save

from babyai_player.network import Network
from gde.errors import ConfigError

WEIGHTS, CARD = "weights.safetensors", "card.json"
VERSION = 1
"""Of the network's shape and of the reading of texts; raised when either changes."""


@dataclass(frozen=True)
class Card:
    """What is known of a trained player."""

    version: int
    vocabulary: list[str]
    digest: str
    """SHA-256 of the weights."""
    recipe: Mapping[str, Any]
    scores: list[Mapping[str, Any]]
    """Scores in held-out worlds, from the first to the last step."""


CARDS = TypeAdapter(Card)


def write_player(
    folder: Path,
    network: Network,
    recipe: Mapping[str, Any],
    scores: list[Mapping[str, Any]],
) -> None:
    """Write a trained network and its card."""
    weights = save(network.state_dict())
    card = Card(
        VERSION, [*network.numbers], sha256(weights).hexdigest(), recipe, scores
    )
    (folder / WEIGHTS).write_bytes(weights)
    text = json.dumps(asdict(card), indent=2) + "\n"
    (folder / CARD).write_text(text, encoding="utf-8")


def read_player(folder: Path) -> Network:
    """Read a network; nothing of the folder is run.

    Raises:
        ConfigError: the folder holds no trained player, another version's, or other
        weights than its card says.
    """
    again = "train it again"
    try:
        card = CARDS.validate_json((folder / CARD).read_bytes())
        weights = (folder / WEIGHTS).read_bytes()
    except (OSError, ValidationError) as error:
        raise ConfigError(
            f"agent.source: wanted the folder of a trained player, got {str(folder)!r}"
        ) from error
    if card.version != VERSION:
        raise ConfigError(
            f"agent.source: {folder} is of version {card.version}, wanted {VERSION}: {again}"
        )
    if sha256(weights).hexdigest() != card.digest:
        raise ConfigError(
            f"agent.source: {folder / WEIGHTS} is not what its card says: {again}"
        )
    network = Network(card.vocabulary)
    try:
        network.load_state_dict(load(weights))
    except (RuntimeError, SafetensorError) as error:
        raise ConfigError(
            f"agent.source: {folder / WEIGHTS} does not fit its card: {again}"
        ) from error
    return network
