"""The learned player as an agent: it reads the text alone, and acts or answers."""

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from gde.data.observation import Observation
from gde.data.trajectory import Decision
from gde.errors import GdeError
from gde.parts.agent import Brief
from gde_plugins.babyai.config import LearnedConfig
from gde_plugins.babyai.learned.folder import read_player
from gde_plugins.babyai.learned.player import Player
from gde_plugins.babyai.learned.reading import (
    Line,
    Moment,
    Pose,
    read_lines,
    read_pose,
)
from gde_plugins.babyai.tasks.parsing import END, PLAN_MARKER, START, STATE_MARKER

TAKEN = re.compile(r"takes these actions, one after another: (.*)\.$", re.MULTILINE)
SUBGOALS = {"pickup": "Pickup", "drop": "Drop", "toggle": "Open"}


class LearnedPlayer:
    """Acts with its next action; answers from a walk that it imagines."""

    def __init__(self, config: LearnedConfig) -> None:
        self._player = Player(read_player(Path(config.source)))

    def begin(self, _brief: Brief) -> None:
        self._lines: list[Line] = []
        self._moments: list[Moment] = []
        self._last = ""

    async def act(self, observation: Observation) -> Decision:
        text = observation.text
        try:
            pose = read_pose(text)
        except GdeError as error:
            return Decision.unusable("error", str(error))
        if observation.actions is None:
            return Decision.act(self._answer(text, pose))

        # The mission may speak of the first pose, e.g. of the box behind the agent.
        self._lines = self._lines or read_lines(text)
        self._moments.append(Moment(self._last, pose))
        self._last = self._player.act(self._lines, self._moments)
        return Decision.act(self._last)

    def _answer(self, text: str, pose: Pose) -> str:
        lines = read_lines(text)
        taken = TAKEN.search(text)
        if taken:
            end = self._player.follow(lines, pose, taken[1].split(", "))[-1].pose
            return f"{STATE_MARKER} {((end.x, end.y), end.direction)}"
        walk = self._player.plan(lines, pose)
        if PLAN_MARKER in text:
            actions = [moment.action for moment in walk[1:]]
            return f"{PLAN_MARKER} {', '.join(actions)}"
        return "\n".join([START, *_subgoals(walk), END])


def _subgoals(walk: Sequence[Moment]) -> list[str]:
    """The subgoals of a walk: where it uses its hands, what it does there, and its end."""
    subgoals: list[str] = []
    goes_on = True
    for before, moment in pairwise(walk):
        subgoal = SUBGOALS.get(moment.action)
        if subgoal is None:
            goes_on = True
            continue
        if goes_on:
            subgoals.append(f"(GoNextToSubgoal, {before.pose.front})")
        subgoals.append(f"({subgoal}Subgoal)")
        goes_on = False
    if goes_on:
        subgoals.append(f"(GoNextToSubgoal, {walk[-1].pose.front})")
    return subgoals
