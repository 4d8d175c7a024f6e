"""A network at play: its next action, and walks that it only imagines."""

from collections.abc import Sequence

import torch

from babyai_player.network import Network
from babyai_player.reading import EFFECTS, Line, Moment, Pose
from babyai_player.walks import ADVICE, DONE
from gde_plugins.babyai.worlds.scene import ACTIONS

FARTHEST = 64
"""Maximum number of actions of a walk of its own."""


class Player:
    """Takes the likeliest action and expects the likeliest effect."""

    def __init__(self, network: Network) -> None:
        self._network = network.eval()

    def act(self, lines: Sequence[Line], moments: Sequence[Moment]) -> str:
        """The next action of a walk that has not ended."""
        advice, _ = self._logits(lines, moments)
        return ACTIONS[int(advice[: len(ACTIONS)].argmax())]

    def follow(
        self, lines: Sequence[Line], pose: Pose, actions: Sequence[str]
    ) -> list[Moment]:
        """Imagine a walk with given actions."""
        moments = [Moment("", pose)]
        for action in actions:
            _, effects = self._logits(lines, moments)
            moments.append(_next(moments[-1], action, effects))
        return moments

    def plan(self, lines: Sequence[Line], pose: Pose) -> list[Moment]:
        """Imagine a walk with its own actions."""
        moments = [Moment("", pose)]
        while len(moments) <= FARTHEST:
            advice, effects = self._logits(lines, moments)
            action = ADVICE[int(advice.argmax())]
            if action == DONE:
                break
            moments.append(_next(moments[-1], action, effects))
        return moments

    def _logits(
        self, lines: Sequence[Line], moments: Sequence[Moment]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits of the advice, and (ACTIONS, EFFECTS), at the last moment."""
        with torch.inference_mode():
            advice, effects = self._network(self._network.batch([(lines, moments)]))
        return advice[0, -1], effects[0, -1]


def _next(moment: Moment, action: str, effects: torch.Tensor) -> Moment:
    effect = EFFECTS[int(effects[ACTIONS.index(action)].argmax())]
    return Moment(action, moment.pose.after(effect))
