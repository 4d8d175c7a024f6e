"""A training that is interrupted goes on from its last checkpoint, and ends as it would
have ended otherwise.

Nothing but the samples is random in it, and those of a step are a function of the
recipe.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from gde.errors import GdeError
from gde_plugins.language_models.nano.recipe import Recipe
from gde_plugins.language_models.nano.schedule import POOL

EVERY = 25 * POOL
"""Steps; samples are drawn for POOL steps at once."""
NAME = "checkpoint.pt"


class Checkpoints:
    """What changes in a training, kept in a file of the folder that the model will be
    written to.
    """

    def __init__(self, folder: Path, recipe: Recipe, **changing: Any) -> None:
        """Take what has a `state_dict`, by name."""
        self._path = folder / NAME
        self._recipe = asdict(recipe)
        self._changing = changing

    def load(self) -> int:
        """Put everything back to the last checkpoint; gives the steps that were done, 0
        where there is none.

        Raises:
            GdeError: it is of another recipe.
        """
        if not self._path.exists():
            return 0
        kept = torch.load(self._path, weights_only=True)
        if kept["recipe"] != self._recipe:
            raise GdeError(
                f"{self._path} was begun with {kept['recipe']}, got {self._recipe}: choose another folder"
            )
        for name, each in self._changing.items():
            each.load_state_dict(kept[name])
        return int(kept["step"])

    def keep(self, step: int) -> None:
        """Write the checkpoint, where one is due after so many steps."""
        if step % EVERY == 0:
            states = {name: each.state_dict() for name, each in self._changing.items()}
            self._path.parent.mkdir(parents=True, exist_ok=True)
            begun = self._path.with_suffix(".begun")
            torch.save({"recipe": self._recipe, "step": step, **states}, begun)
            begun.replace(self._path)

    def forget(self) -> None:
        """Remove it: the model is written."""
        self._path.unlink(missing_ok=True)
