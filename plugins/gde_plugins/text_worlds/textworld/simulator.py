"""TextWorld in its process."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import textworld
from textworld import EnvInfos

from gde_plugins.text_worlds.hosting.simulator import Opening, Shown
from gde_plugins.text_worlds.textworld.caches import cache_actions, sort_by_key
from gde_plugins.text_worlds.textworld.games import game_file

PROMPT = re.compile(r"\n>[^\n]*(?:\n.*)?\Z", re.DOTALL)
"""The prompt of a player, and the status line that is drawn over it."""
INFOS = {
    "admissible_commands": True,
    "score": True,
    "max_score": True,
    "won": True,
    "lost": True,
    "objective": True,
}


class TextWorldSimulator:
    """Implements `gde_plugins.text_worlds.hosting.simulator.Simulator`."""

    def __init__(self, folder: str) -> None:
        """Keep the games that are made in this folder."""
        cache_actions()
        sort_by_key()
        self._folder = Path(folder)
        self._env: Any = None

    def begin(self, game: Mapping[str, Any]) -> Opening:
        """Make the game where it has not been made yet, and begin it."""
        self.close()
        self._file = game_file(self._folder, game)
        self._taken: list[str] = []
        self._score = 0
        self._env, state = _started(self._file)
        self._walkthrough: list[str] = list(state["extra.walkthrough"] or ())
        kind = game["game"]
        return Opening(
            shown=self._shown(_beginning(state)),
            objective=state.objective,
            id=state["extra.uuid"],
            facts={"seed": game["seed"]},
            labels={"game": kind, "walkthrough": len(self._walkthrough)},
        )

    def step(self, action: str) -> Shown:
        state, _, _ = self._env.step(action)
        self._taken.append(action)
        return self._shown(state)

    def demonstration(self) -> Sequence[str]:
        """Return TextWorld's policy, or else the rest of its walkthrough, if it wins
        when it is tried.
        """
        way = self._tried(self._taken, self._policy())
        if way:
            return way

        # The policy does not always win, and then the walkthrough from the first action
        # that differs is tried.
        walkthrough = self._tried((), self._walkthrough)
        n_shared = 0
        for own, recommended in zip(self._taken, walkthrough, strict=False):
            if own != recommended:
                break
            n_shared += 1
        return self._tried(self._taken, walkthrough[n_shared:])

    def close(self) -> None:
        if self._env is not None:
            self._env.close()
            self._env = None

    def _shown(self, state: Any) -> Shown:
        gained = state.score - self._score
        self._score = state.score
        ended = bool(state.won or state.lost)
        if state.won:
            success = 1.0
        else:
            success = min(1.0, max(0.0, state.score / state.max_score))
        return Shown(
            text=PROMPT.sub("", state.feedback).strip(),
            actions=() if ended else tuple(state.admissible_commands),
            reward=float(gained),
            success=success,
            ended=ended,
        )

    def _policy(self) -> list[str]:
        """Return what TextWorld's policy would do now; it is slow, so only a second
        game follows it.
        """
        env, state = _started(self._file, policy_commands=True)
        for action in self._taken:
            state, _, _ = env.step(action)
        env.close()
        return list(state.policy_commands or ())

    def _tried(self, before: Sequence[str], actions: Sequence[str]) -> list[str]:
        """Return the actions that are admissible, if they win in a second game; none
        otherwise.
        """
        env, state = _started(self._file)
        for action in before:
            state, _, _ = env.step(action)

        # Some actions are left out: TextWorld's walkthroughs open doors that are open.
        way = []
        for action in actions:
            if not (state.won or state.lost) and action in state.admissible_commands:
                way.append(action)
                state, _, _ = env.step(action)
        env.close()
        return way if state.won else []


def _started(file: Path, **infos: bool) -> tuple[Any, Any]:
    env = textworld.start(
        str(file), EnvInfos(**INFOS, **infos, extras=["walkthrough", "uuid"])
    )
    return env, env.reset()


def _beginning(state: Any) -> Any:
    """Drop the banner, which is the same in every game."""
    start = max(0, state.feedback.find(state.objective))
    state["feedback"] = state.feedback[start:]
    return state
