"""ScienceWorld in its own process, with a Java machine beside it."""

import os
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from gde.errors import GdeError
from gde_plugins.text_worlds.hosting.simulator import Opening, Shown, rest_of
from gde_plugins.text_worlds.scienceworld.wording import Told, Wording

JAVA = "-Xmx700m -XX:+UseSerialGC -XX:+UnlockExperimentalVMOptions -XX:hashCode=2"
"""Options of the Java machine. By itself it would take a quarter of the memory before
it collects garbage. One hash for all objects makes the gold paths, which go through
sets of objects, the same in every process and at every call.
"""
NO_LIMIT = 10**9
"""ScienceWorld's own limit of steps; the run has its own horizon."""


class ScienceWorldSimulator:
    """Implements `gde_plugins.text_worlds.hosting.simulator.Simulator`."""

    def __init__(self, listed: bool, play_on: bool) -> None:
        """Start the Java machine.

        Raises:
            GdeError: there is none.
        """
        if shutil.which("java") is None:
            from gde_plugins.text_worlds.plugin import INSTALL_JAVA

            raise GdeError(
                f"scienceworld needs Java, but there is no program java: {INSTALL_JAVA}"
            )
        os.environ.setdefault("JAVA_TOOL_OPTIONS", JAVA)
        from scienceworld import ScienceWorldEnv

        self._env = ScienceWorldEnv("", envStepLimit=NO_LIMIT)
        self._server = self._env.server
        self._listed = listed
        self._play_on = play_on
        self._worded: dict[tuple[str, int], Sequence[str]] = {}
        """Task and variation to the gold path in listed words."""
        self._known_way: dict[tuple[str, int], tuple[str, ...]] = {}
        """Task and variation to the last found actions from the beginning to the goal.
        """

    def variations(self, task: str | None, split: str) -> list[tuple[str, int]]:
        """Task and number of every variation of a split, in ScienceWorld's order.

        Raises:
            GdeError: there is no such task.
        """
        tasks = self._env.get_task_names()
        if task is not None and task not in tasks:
            raise GdeError(
                f"scienceworld: unknown env.task {task!r}; known: {', '.join(tasks)}"
            )
        wanted = tasks if task is None else [task]
        list_variations = getattr(self._env, f"get_variations_{split}")
        found: list[tuple[str, int]] = []
        for name in wanted:
            # ScienceWorld lists the variations of the task that is loaded.
            self._env.load(name, 0, "")
            for number in list_variations():
                found.append((name, number))
        return found

    def begin(self, game: Mapping[str, Any]) -> Opening:
        task = game["task"]
        variation = game["variation"]
        self._game = task, variation
        self.restart(())

        description = self._env.taskdescription().removeprefix("Task Description:")
        text = self._server.freeActionLook().strip()
        return Opening(
            shown=Shown(text=text, actions=self.listed()),
            objective=" ".join(description.split()),
            id=f"{task} {variation}",
            facts={"task": task, "variation": variation},
            labels={"task": task, "variation": variation},
        )

    def step(self, action: str) -> Shown:
        shown = self._shown(self.act(action))
        self._taken.append(action)
        return shown

    def demonstration(self) -> Sequence[str]:
        """Return the rest of the gold path in listed words, if it leads to full score."""
        taken = tuple(self._taken)
        known = self._known_way.get(self._game)
        if known is not None and known[: len(taken)] == taken:
            return known[len(taken) :]

        ahead = self._tried(taken)
        if ahead:
            self._known_way[self._game] = (*taken, *ahead)
        return ahead

    def close(self) -> None:
        """End the Java machine, and wait for its end."""
        self._env.close()
        self._env._gateway.java_process.wait()

    def _tried(self, taken: Sequence[str]) -> Sequence[str]:
        """Return the rest of the gold path up to the full score.

        It is empty if the score is not reached; the game does not move.
        """
        if self._game not in self._worded:
            self._worded[self._game] = self._gold_path()
        way = self._worded[self._game]
        ahead = rest_of(way, taken)

        n = self._followed(taken, ahead)
        if n == 0 and self._game not in self._known_way:
            # A way that fails even from the beginning is not tried again.
            fails_from_beginning = not taken or self._followed((), way) == 0
            if fails_from_beginning:
                self._worded[self._game] = ()
        self.go_back(taken)
        return ahead[:n]

    def _gold_path(self) -> Sequence[str]:
        """Return the gold path from the beginning, in listed words if actions are
        listed.
        """
        task, number = self._game
        self._env.load(task, number, "", generateGoldPath=True)
        gold: list[str] = self._env.get_gold_action_sequence()
        if not self._listed:
            return gold

        self.restart(())
        told = []
        for action in gold:
            answer = self.act(action)
            told.append(Told(action=action, answer=answer, view=self.view()))
        return Wording(self, self._env).of(told)

    def view(self) -> tuple[str, ...]:
        """Return everything visible here that costs no time."""
        return (
            str(self._server.getScore()),
            self._server.freeActionLook(),
            self._server.freeActionInventory(),
        )

    def _followed(self, taken: Sequence[str], way: Sequence[str]) -> int:
        """Count the actions of a plan until the score is full.

        The count is 0 if it never is, or if an action is not admissible.
        """
        listed = self.go_back(taken) if way else None
        for n, action in enumerate(way, 1):
            if listed is not None and action not in listed:
                return 0
            self.act(action)
            if self._server.getScore() >= 1:
                return n
            listed = self.listed()
        return 0

    def go_back(self, taken: Sequence[str]) -> tuple[str, ...] | None:
        """Restart the game, repeat these actions, and return the admissible ones.

        The actions are listed after each step, since each listing draws one of the many
        names of a thing anew.
        """
        self.restart(())
        listed = self.listed()
        for action in taken:
            self.act(action)
            listed = self.listed()
        self._taken = list(taken)
        self._score = self._clipped() if taken else 0.0
        return listed

    def restart(self, taken: Sequence[str]) -> None:
        """Restart the game and take these actions."""
        task, number = self._game
        self._env.load(task, number, "")
        for action in taken:
            self.act(action)
        self._taken = list(taken)
        # Until the first action ScienceWorld tells the score of the game before.
        self._score = self._clipped() if taken else 0.0

    def act(self, action: str) -> str:
        """Take an action and return the answer."""
        # The wrapper's own step would look, list and describe anew each time, which
        # takes ten times as long.
        return str(self._server.step(action))

    def listed(self) -> tuple[str, ...] | None:
        """List the admissible actions; None if they are not to be listed."""
        if not self._listed:
            return None

        # As one text: ScienceWorld's wrapper asks Java for one action after the other,
        # several thousand times.
        combinations = self._server.getValidActionObjectCombinations()
        text = self._env._gateway.jvm.java.lang.String.join("\n", combinations)
        return tuple(sorted(set(text.split("\n"))))

    def _clipped(self) -> float:
        """Share of the goal, 0 to 1; ScienceWorld says -1 when it was missed for
        good.
        """
        return min(1.0, max(0.0, float(self._server.getScore())))

    def _shown(self, text: str) -> Shown:
        before = self._score
        self._score = self._clipped()
        is_missed = bool(self._server.getScore() < 0)
        plays_on = self._score >= 1 and self._play_on
        ended = is_missed or (bool(self._server.getCompleted()) and not plays_on)
        return Shown(
            text=text.strip(),
            actions=() if ended else self.listed(),
            # Whole points, as ScienceWorld gives them.
            reward=float(round(100 * self._score) - round(100 * before)),
            success=self._score,
            ended=ended,
        )
