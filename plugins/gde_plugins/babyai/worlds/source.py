"""Maps seeds to worlds, and checks known worlds by their hashes."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from gde.errors import GdeError
from gde_plugins.babyai.config import WorldConfig
from gde_plugins.babyai.worlds.generation import make_scene, minigrid_version
from gde_plugins.babyai.worlds.scene import Scene

HASHES = "hashes.json"


class Source:
    """The worlds of a configuration."""

    def __init__(self, config: WorldConfig) -> None:
        self._config = config
        # A seed that is listed twice is one world.
        self._listed = list(dict.fromkeys(config.seeds))

    @property
    def names(self) -> Sequence[str]:
        """A name for each listed seed; empty if every seed is a world."""
        config = self._config
        return [
            f"{config.level} {seed} as minigrid {config.release}"
            for seed in self._listed
        ]

    def scene(self, seed: int) -> Scene:
        """Return the world of a seed; with listed worlds, number `seed` of them.

        It counts modulo their number.

        Raises:
            GdeError: minigrid makes another world than it should.
        """
        listed = self._listed
        if not listed:
            return self.another(seed)
        return self.another(listed[seed % len(listed)])

    def another(self, number: int) -> Scene:
        """Return the world of a seed, listed or not.

        Raises:
            GdeError: minigrid makes another world than it should.
        """
        config = self._config
        scene = make_scene(config.level, number, config.release)

        # Most worlds are not listed, and then nothing can be checked.
        name = f"{config.release} {config.level} {number}"
        known = _known().get(name, scene.identity)
        if known != scene.identity:
            what = f"level {config.level}, seed {number}: wanted world {known} of minigrid {config.release}"
            advice = "install minigrid==3.2.0"
            raise GdeError(
                f"{what}, got {scene.identity} of minigrid {minigrid_version()}: {advice}"
            )
        return scene


@cache
def _known() -> Mapping[str, str]:
    """Read the identities of some worlds by release, level and seed."""
    text = files(__package__).joinpath(HASHES).read_text(encoding="utf-8")
    identities: Mapping[str, str] = json.loads(text)
    return identities
