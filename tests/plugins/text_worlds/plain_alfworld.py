"""ALFWorld as its users make it, and with what is remembered: the same game in both,
told in full.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Any


class Plain:
    """Tells a game without and with `cache` and `read_expressions`, which hold for the rest of a process."""

    def __init__(self, file: str) -> None:
        self._file = file

    def tell(self, actions: Sequence[str]) -> tuple[list[Any], list[Any], int]:
        """All that is told in the plain simulator, and remembered, and how often a
        problem was translated for that.
        """
        import fast_downward

        from gde_plugins.text_worlds.alfworld.caches import cache
        from gde_plugins.text_worlds.alfworld.expressions import read_expressions

        if sys.version_info >= (3, 13):
            read_expressions()  # without it, no game begins
        plain = self._told(actions)
        translations = []
        translate = fast_downward.pddl2sas
        fast_downward.pddl2sas = lambda *texts, **how: (
            translations.append(texts) or translate(*texts, **how)
        )
        cache()
        read_expressions()
        return plain, self._told(actions), len(translations)

    def _told(self, actions: Sequence[str]) -> list[Any]:
        from alfworld.agents.environment.alfred_tw_env import AlfredDemangler
        from textworld import EnvInfos
        from textworld.envs import PddlEnv

        env = AlfredDemangler(
            PddlEnv(EnvInfos(won=True, admissible_commands=True, score=True)),
            shuffle=False,
        )
        env.load(self._file)
        told = []
        for _ in range(2):
            told.append(_seen(env.reset()))
            told += [_seen(env.step(action)[0]) for action in actions]
        return told

    def close(self) -> None:
        """Nothing runs beside it."""


def _seen(state: Mapping[str, Any]) -> list[Any]:
    facts = sorted(str(each) for each in state["_facts"])
    return [state["feedback"], state["admissible_commands"], state["won"], facts]
