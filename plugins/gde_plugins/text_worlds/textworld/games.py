"""Game files that TextWorld's engine makes, each made once."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gde.errors import GdeError
from gde.seeding import derive

TRIES = 20
"""Maximum number of maps drawn until one has room for the quest."""


def game_file(folder: Path, game: Mapping[str, Any]) -> Path:
    """Return the compiled game; it is made if the folder does not hold it yet.

    Args:
        folder: where games are kept, each in a folder named by its settings.
        game: the settings of `TextWorldConfig` that shape a game, and `seed`.

    Raises:
        GdeError: no map has room for such a quest.
    """
    settings = json.dumps(dict(game), sort_keys=True)
    kept = folder / sha256(settings.encode()).hexdigest()[:16]
    if not kept.is_dir():
        # Games are made elsewhere and then moved, so that no other process finds half a
        # game.
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder) as making:
            _compile(Path(making) / "made" / "game.z8", game)
            try:
                (Path(making) / "made").rename(kept)
            except OSError:
                # Another process may have been faster.
                if not kept.is_dir():
                    raise
    return kept / "game.z8"


def _compile(path: Path, game: Mapping[str, Any]) -> None:
    from textworld import GameOptions
    from textworld.generator import compile_game
    from textworld.generator.chaining import QuestGenerationError

    path.parent.mkdir()
    for attempt in range(TRIES):
        options = GameOptions()
        options.path = str(path)
        options.seeds = derive(game["seed"], "attempt", attempt) % 2**31
        options.force_recompile = True
        options.grammar.only_last_action = not game["route"]
        try:
            compile_game(_made(game, options), options)
        except QuestGenerationError:
            continue
        return

    wanted = ", ".join(f"{name}={value}" for name, value in game.items())
    raise GdeError(
        f"textworld: none of {TRIES} maps has room for the quest of {wanted}: set env.level or env.quest_length"
    )


def _made(game: Mapping[str, Any], options: Any) -> Any:
    """A kind of game, not yet compiled."""
    if game["game"] == "cooking":
        from textworld.challenges.tw_cooking import cooking

        settings = {
            "recipe": game["ingredients"],
            "take": game["ingredients"],
            "go": game["rooms"],
            "open": True,
            "recipe_seed": game["seed"],
            "cook": game["cook"],
            "cut": game["cut"],
            "drop": game["drop"],
            "split": "train",
        }
        return cooking.make(settings, options)
    if game["game"] == "treasure-hunt":
        from textworld.challenges.tw_treasure_hunter import treasure_hunter

        return treasure_hunter.make({"level": game["level"]}, options)
    if game["game"] == "coin-collector":
        from textworld.challenges.tw_coin_collector import coin_collector

        return coin_collector.make({"level": game["level"]}, options)
    from textworld.generator import make_game

    options.nb_rooms = game["rooms"]
    options.nb_objects = game["objects"]
    options.quest_length = game["quest_length"]
    options.quest_breadth = 1
    return make_game(options)
