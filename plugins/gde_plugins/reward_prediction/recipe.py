"""What the pairs of a folder were made with, `OUT/DOMAIN/recipe.json`: no build goes on where another one began."""

import json
from collections.abc import Mapping
from pathlib import Path

from gde.data.json import Json
from gde.errors import ConfigError
from gde.files import replacing
from gde_plugins.reward_prediction.files import has_pairs

RECIPE = "recipe.json"


def keep_recipe(folder: Path, asked: Mapping[str, Json]) -> None:
    """Write it, before the first pair. A folder that has pairs and no such file is of an older version or from
    elsewhere: it is gone on with and gets none, for nobody knows what those pairs were made with.

    Raises:
        ConfigError: another one is there.
        RunFailed: it cannot be written.
    """
    begun = has_pairs(folder)
    if not check_recipe(folder, asked) and not begun:
        with replacing(folder / RECIPE) as file:
            file.write_text(json.dumps(asked, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def check_recipe(folder: Path, asked: Mapping[str, Json]) -> bool:
    """Whether the folder has the same.

    Raises:
        ConfigError: it has another one.
    """
    path = folder / RECIPE
    try:
        kept = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as error:
        raise ConfigError(f"--out: {path} cannot be read: {error}: name another folder") from error
    if not isinstance(kept, dict):
        raise ConfigError(f"--out: {path}: wanted what the pairs were made with, got other JSON: name another folder")
    if changed := [name for name in {**kept, **asked} if kept.get(name) != asked.get(name)]:
        had, wanted = (", ".join(_told(name, values) for name in changed) for values in (kept, asked))
        raise ConfigError(
            f"--out: {folder} was begun with {had}, got {wanted}: ask for the same or name another folder"
        )
    return True


def _told(name: str, values: Mapping[str, Json]) -> str:
    return f"{name}={values[name]}" if name in values else f"{name} not set"
