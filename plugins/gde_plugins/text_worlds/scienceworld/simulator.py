"""ScienceWorld in its process, and a Java machine beside it."""

import os
import shutil
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from gde.errors import GdeError
from gde_plugins.text_worlds.hosting.simulator import Opening, Shown
from gde_plugins.text_worlds.scienceworld.wording import Told, Wording

JAVA = "-Xmx700m -XX:+UseSerialGC -XX:+UnlockExperimentalVMOptions -XX:hashCode=2"
"""The machine would take a quarter of the memory there is before it looks for what it could drop. With one hash for all
objects the gold paths, which go through sets of them, are the same in every process and whenever they are asked for."""
NO_LIMIT = 10**9
"""Steps after which ScienceWorld would stop; a run counts for itself."""


class ScienceWorldSimulator:
    """Implements `gde_plugins.text_worlds.hosting.simulator.Simulator`."""

    def __init__(self, listed: bool, play_on: bool) -> None:
        """Start the Java machine.

        Raises:
            GdeError: there is none.
        """
        if shutil.which("java") is None:
            from gde_plugins.text_worlds.plugin import INSTALL_JAVA

            raise GdeError(f"scienceworld needs Java, there is no program java: {INSTALL_JAVA}")
        os.environ.setdefault("JAVA_TOOL_OPTIONS", JAVA)
        from scienceworld import ScienceWorldEnv

        self._env = ScienceWorldEnv("", envStepLimit=NO_LIMIT)
        self._server = self._env.server
        self._listed = listed
        self._play_on = play_on
        self._worded: dict[tuple[str, int], Sequence[str]] = {}
        """Task and variation to the gold path in words that are listed."""
        self._known_way: dict[tuple[str, int], tuple[str, ...]] = {}
        """Task and variation to actions from the beginning that have reached the goal, the last ones found."""

    def variations(self, task: str | None, split: str) -> list[tuple[str, int]]:
        """Task and number of every variation of a split, in ScienceWorld's order.

        Raises:
            GdeError: there is no such task.
        """
        tasks = self._env.get_task_names()
        if task is not None and task not in tasks:
            raise GdeError(f"scienceworld: unknown env.task {task!r}; known: {', '.join(tasks)}")
        found: list[tuple[str, int]] = []
        for name in tasks if task is None else [task]:
            self._env.load(name, 0, "")
            found += [(name, number) for number in getattr(self._env, f"get_variations_{split}")()]
        return found

    def begin(self, game: Mapping[str, Any]) -> Opening:
        self._game = game["task"], game["variation"]
        self._restart(())
        task, number = self._game
        return Opening(
            shown=Shown(text=self._server.freeActionLook().strip(), actions=self._actions()),
            objective=" ".join(self._env.taskdescription().removeprefix("Task Description:").split()),
            id=f"{task} {number}",
            facts={"task": task, "variation": number},
            labels={"task": task, "variation": number},
        )

    def step(self, action: str) -> Shown:
        shown = self._shown(self._act(action))
        self._taken.append(action)
        return shown

    def demonstration(self) -> Sequence[str]:
        """The gold path from here, in words that are listed, where it leads to the full score when it is tried."""
        taken = tuple(self._taken)
        known = self._known_way.get(self._game)
        if known is not None and known[: len(taken)] == taken:
            return known[len(taken) :]
        if ahead := self._tried(taken):
            self._known_way[self._game] = (*taken, *ahead)
        return ahead

    def close(self) -> None:
        """End the Java machine, and see it end."""
        self._env.close()
        self._env._gateway.java_process.wait()

    def _tried(self, taken: Sequence[str]) -> Sequence[str]:
        """What is left of the gold path, up to the full score; empty where that is not reached. The game stays where it
        is."""
        if self._game not in self._worded:
            self._worded[self._game] = self._gold_path()
        way = self._worded[self._game]
        ahead = len([*takewhile(lambda pair: pair[0] == pair[1], zip(taken, way, strict=False))])
        n = self._followed(taken, way[ahead:])
        if n == 0 and self._game not in self._known_way and (not taken or self._followed((), way) == 0):
            self._worded[self._game] = ()  # not even from the beginning: it is not tried again
        self._go_back(taken)
        return way[ahead:][:n]

    def _gold_path(self) -> Sequence[str]:
        """In listed words, where actions are listed."""
        task, number = self._game
        self._env.load(task, number, "", generateGoldPath=True)
        gold: list[str] = self._env.get_gold_action_sequence()
        if not self._listed:
            return [*gold]
        self._restart(())
        told = [Told(action=action, answer=self._act(action), view=self._view()) for action in gold]
        self._restart(())
        return Wording(
            self._env,
            act=self._act,
            admissible=lambda: self._actions() or (),
            view=self._view,
            restart=self._restart,
            go_back=lambda taken: self._go_back(taken) or (),
        ).of(told)

    def _view(self) -> tuple[str, ...]:
        """All that is seen from here without taking time."""
        return str(self._server.getScore()), self._server.freeActionLook(), self._server.freeActionInventory()

    def _followed(self, taken: Sequence[str], way: Sequence[str]) -> int:
        """After how many actions of a way from there the score is full; 0 where it never is or one of them is not
        admissible."""
        if not way:
            return 0
        listed = self._go_back(taken)
        for n, action in enumerate(way, 1):
            if listed is not None and action not in listed:
                return 0
            self._act(action)
            if self._server.getScore() >= 1:
                return n
            listed = self._actions()
        return 0

    def _go_back(self, taken: Sequence[str]) -> tuple[str, ...] | None:
        """Begin again and take these actions as they were taken: to list what is admissible may leave its traces in
        what is listed next. What is admissible then."""
        self._restart(())
        listed = self._actions()
        for action in taken:
            self._act(action)
            listed = self._actions()
        self._taken = list(taken)
        self._score = self._clipped() if taken else 0.0
        return listed

    def _restart(self, taken: Sequence[str]) -> None:
        """Begin the game again and take these actions."""
        task, number = self._game
        self._env.load(task, number, "")
        self._taken = list(taken)
        self._score = 0.0
        for action in taken:
            self._act(action)
        # Until the first action ScienceWorld tells the score of the game before.
        self._score = self._clipped() if taken else 0.0

    def _act(self, action: str) -> str:
        # The wrapper's own step would look, list and describe anew each time, which takes ten times as long.
        return str(self._server.step(action))

    def _clipped(self) -> float:
        """Share of the goal, 0 to 1; ScienceWorld says -1 when it was missed for good."""
        return min(1.0, max(0.0, float(self._server.getScore())))

    def _actions(self) -> tuple[str, ...] | None:
        return tuple(sorted(self._admissible())) if self._listed else None

    def _admissible(self) -> set[str]:
        # As one text: ScienceWorld's wrapper asks Java for one action after the other, several thousand times.
        actions = self._server.getValidActionObjectCombinations()
        return {*self._env._gateway.jvm.java.lang.String.join("\n", actions).split("\n")}

    def _shown(self, text: str) -> Shown:
        before = self._score
        self._score = self._clipped()
        reached = self._score >= 1
        ended = bool(self._server.getScore() < 0 or (self._server.getCompleted() and not (reached and self._play_on)))
        return Shown(
            text=text.strip(),
            actions=() if ended else self._actions(),
            reward=float(round(100 * self._score) - round(100 * before)),
            success=self._score,
            ended=ended,
        )
