"""TextWorld as its users play it, and with what is remembered: the same walk in both,
told in full.
"""

import random
from typing import Any

TURNS = 60


class Plain:
    """Tells games without and with what is remembered, which holds for the rest of a
    process.
    """

    def __init__(self, files: list[str]) -> None:
        self._files = files

    def tell(self) -> tuple[list[Any], list[Any], list[int]]:
        """All that is told on a walk through each game in the plain simulator, and
        remembered, and how often a rule was gone through for that.
        """
        from textworld.logic import State

        from gde_plugins.text_worlds.textworld.caches import cache_actions, sort_by_key

        searches, search = [0, 0], State.all_assignments

        def counted(*asked: Any, **how: Any) -> Any:
            searches[now] += 1
            return search(*asked, **how)

        State.all_assignments = counted
        now = 0
        plain = [_walk(file) for file in self._files]
        sort_by_key()
        cache_actions()
        now = 1
        return plain, [_walk(file) for file in self._files], searches

    def close(self) -> None:
        """Nothing runs beside it."""


def _walk(file: str) -> list[Any]:
    """A walk by chance, as policy has it at first, begun again when the game ends."""
    import textworld
    from textworld import EnvInfos

    wanted = ("admissible_commands", "policy_commands", "facts", "score", "won", "lost")
    env = textworld.start(file, EnvInfos(**dict.fromkeys(wanted, True)))
    rng, state, told = random.Random(0), env.reset(), []
    for turn in range(TURNS):
        told.append(
            [
                state.feedback,
                state.admissible_commands,
                state.policy_commands,
                state.score,
                state.won,
                state.lost,
            ]
        )
        told[-1] += [
            sorted(map(str, state.facts)),
            [*map(str, state["_valid_actions"])],
        ]
        if state.won or state.lost:
            state = env.reset()
        else:
            follow = turn < TURNS // 3 and state.policy_commands
            command = (
                state.policy_commands[0]
                if follow
                else rng.choice([*state.admissible_commands, "dance"])
            )
            state, _, _ = env.step(command)
    env.close()
    return told
