"""The recipe of a folder's pairs, `OUT/DOMAIN/recipe.json`: a build never goes on where
another recipe began.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from gde.data.json import Json
from gde.errors import ConfigError
from gde.files import replacing
from gde_plugins.reward_prediction.files import has_pairs

RECIPE = "recipe.json"


def keep_recipe(folder: Path, recipe: Mapping[str, Json]) -> None:
    """Write the recipe before the first pair.

    A folder with pairs and without a recipe is of an older version or from elsewhere. A
    build goes on in it and writes no recipe, since nobody knows how those pairs were
    made.

    Raises:
        ConfigError: the folder has another recipe.
        RunFailed: the recipe cannot be written.
    """
    has_begun = has_pairs(folder)  # before the check: another build may begin meanwhile
    if check_recipe(folder, recipe) or has_begun:
        return
    with replacing(folder / RECIPE) as file:
        file.write_text(
            json.dumps(recipe, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )


def check_recipe(folder: Path, recipe: Mapping[str, Json]) -> bool:
    """Whether the folder has a recipe, which then is this one.

    Raises:
        ConfigError: the folder has another recipe, or an unreadable one.
    """
    path = folder / RECIPE
    try:
        kept = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"--out: {path} cannot be read: {error}: name another folder"
        ) from error
    if not isinstance(kept, dict):
        raise ConfigError(
            f"--out: {path}: wanted what the pairs were made with, got other JSON: name another folder"
        )

    changed = [
        name for name in {**kept, **recipe} if kept.get(name) != recipe.get(name)
    ]
    if changed:
        had = ", ".join(_setting(name, kept) for name in changed)
        got = ", ".join(_setting(name, recipe) for name in changed)
        raise ConfigError(
            f"--out: {folder} was begun with {had}, got {got}: ask for the same or name another folder"
        )
    return True


def _setting(name: str, values: Mapping[str, Json]) -> str:
    return f"{name}={values[name]}" if name in values else f"{name} not set"
