"""ALFWorld in its own process."""

import json
import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from gde.errors import GdeError
from gde_plugins.text_worlds.alfworld.expert import House, expert_steps
from gde_plugins.text_worlds.hosting.simulator import Opening, Shown

TASK = "Your task is to: "


class AlfworldSimulator:
    """Implements `gde_plugins.text_worlds.hosting.simulator.Simulator`."""

    def __init__(self, folder: str, play_on: bool) -> None:
        """Keep generated games in this folder."""
        # ALFWorld makes a folder for its data where it is imported.
        os.environ["ALFWORLD_DATA"] = folder
        from alfworld.agents.environment.alfred_tw_env import AlfredDemangler
        from textworld import EnvInfos
        from textworld.envs import PddlEnv

        from gde_plugins.text_worlds.alfworld.caches import cache
        from gde_plugins.text_worlds.alfworld.expressions import read_expressions

        cache()
        read_expressions()
        self._folder = Path(folder)
        self._play_on = play_on
        # One for all games: each loads a copy of the planner, which cannot be unloaded.
        infos = EnvInfos(won=True, admissible_commands=True, score=True)
        self._env = AlfredDemangler(PddlEnv(infos), shuffle=False)
        self._file: Path | None = None

    def begin(self, game: Mapping[str, Any]) -> Opening:
        """Begin a game, and generate it first if it has no file.

        Raises:
            GdeError: the file is no game that can be played.
        """
        if "file" in game:
            file = Path(game["file"])
        else:
            from gde_plugins.text_worlds.alfworld.generation import made_game

            file = made_game(self._folder, game)
        if file != self._file:
            # After a failure no file is loaded.
            self._file = None
            self._load(file)
            self._file = file

        self._state = self._env.reset()
        self._reached = False
        text = self._state.feedback.strip()
        _, _, objective = text.rpartition(TASK)
        digest = sha256(self._content.encode()).hexdigest()[:16]
        return Opening(
            shown=self._shown(text),
            objective=objective,
            id=game.get("id", f"made {digest}"),
            facts={"game": game.get("id", ""), "content": digest},
            labels={"task_type": self._task["task_type"]},
        )

    def step(self, action: str) -> Shown:
        self._state, _, _ = self._env.step(action)
        return self._shown(self._state.feedback)

    def demonstration(self) -> Sequence[str]:
        """Return the expert's actions from the present state, in ALFWorld's words."""
        facts = []
        for fact in self._state["_facts"]:
            arguments = tuple(each.name for each in fact.arguments)
            facts.append((fact.name, arguments))

        names = {name: info.name for name, info in self._state["_entity_infos"].items()}
        said = []
        for action, parameters in expert_steps(House(facts), self._task):
            named = {parameter: names[thing] for parameter, thing in parameters.items()}
            said.append(self._said(action, named))
        return said

    def close(self) -> None:
        """Do nothing: nothing runs outside of this process."""

    def _load(self, file: Path) -> None:
        try:
            self._content = file.read_text(encoding="utf-8")
            record = file.with_name("traj_data.json").read_text(encoding="utf-8")
            self._task = json.loads(record)
            self._env.load(str(file))
        except (OSError, ValueError, KeyError) as error:
            # An unsolvable problem gives the planner nothing to make variables of.
            raise GdeError(
                f"alfworld: {file} cannot be played: {type(error).__name__}: {error}"
            ) from error

    def _said(self, action: str, names: Mapping[str, str]) -> str:
        if action == "gotolocation":
            return "go to {r}".format(**names)
        template: str = self._env.unwrapped._logic.actions[action].template
        return template.format(**names)

    def _shown(self, text: str) -> Shown:
        reached = bool(self._state["won"])
        newly = reached and not self._reached
        self._reached = self._reached or reached
        ended = reached and not self._play_on
        return Shown(
            text=text.strip(),
            actions=() if ended else tuple(self._state["admissible_commands"]),
            reward=float(newly),
            success=float(reached),
            ended=ended,
        )
