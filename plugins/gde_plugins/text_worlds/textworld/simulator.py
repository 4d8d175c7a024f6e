"""TextWorld in its own process."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import textworld
from textworld import EnvInfos

from gde_plugins.text_worlds.hosting.simulator import Opening, Shown, rest_of
from gde_plugins.text_worlds.textworld.games import game_file

PROMPT = re.compile(r"\n>[^\n]*(?:\n.*)?\Z", re.DOTALL)
"""The player's prompt, and the status line drawn over it."""
INFOS = ("admissible_commands", "score", "max_score", "won", "lost", "objective")


class TextWorldSimulator:
    """Implements `gde_plugins.text_worlds.hosting.simulator.Simulator`."""

    def __init__(self, folder: str) -> None:
        """Keep generated games in this folder."""
        self._folder = Path(folder)
        self._env: Any = None

    def begin(self, game: Mapping[str, Any]) -> Opening:
        """Begin the game, and generate it first if there is none yet."""
        self.close()
        self._file = game_file(self._folder, game)
        self._taken: list[str] = []
        self._score = 0
        self._env, state = _started(self._file)
        # The banner before the objective is the same in every game.
        start = max(0, state.feedback.find(state.objective))
        state["feedback"] = state.feedback[start:]
        self._walkthrough: list[str] = list(state["extra.walkthrough"] or ())
        return Opening(
            shown=self._shown(state),
            objective=state.objective,
            id=state["extra.uuid"],
            facts={"seed": game["seed"]},
            labels={"game": game["game"], "walkthrough": len(self._walkthrough)},
        )

    def step(self, action: str) -> Shown:
        state, _, _ = self._env.step(action)
        self._taken.append(action)
        return self._shown(state)

    def demonstration(self) -> Sequence[str]:
        """Return TextWorld's policy, or else the rest of its walkthrough, if it wins.

        Both are tried first.
        """
        way = self._tried(self._taken, self._policy())
        if way:
            return way

        # The policy does not always win, and then the walkthrough from the first action
        # that differs is tried.
        walkthrough = self._tried((), self._walkthrough)
        return self._tried(self._taken, rest_of(walkthrough, self._taken))

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
        """Return the next action of TextWorld's policy.

        It is slow, so only a second game follows it.
        """
        env, state = _started(self._file, self._taken, policy_commands=True)
        env.close()
        return list(state.policy_commands or ())

    def _tried(self, before: Sequence[str], actions: Sequence[str]) -> list[str]:
        """Return the admissible ones of some actions, if they win in a second game.

        Otherwise there are none.
        """
        env, state = _started(self._file, before)
        # Some actions are left out: TextWorld's walkthroughs open doors that are open.
        way = []
        for action in actions:
            if not (state.won or state.lost) and action in state.admissible_commands:
                way.append(action)
                state, _, _ = env.step(action)
        env.close()
        return way if state.won else []


def _started(file: Path, taken: Sequence[str] = (), **infos: bool) -> tuple[Any, Any]:
    """Begin a game and take some actions."""
    infos |= dict.fromkeys(INFOS, True)
    env = textworld.start(str(file), EnvInfos(**infos, extras=["walkthrough", "uuid"]))
    state = env.reset()
    for action in taken:
        state, _, _ = env.step(action)
    return env, state
