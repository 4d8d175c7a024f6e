"""Episodes written down by hand, for the tests of metrics, probes and reporters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gde.data.observation import Observation, State, World
from gde.data.trajectory import Decision, Ending, EpisodeKey, Trajectory, Turn

MUTE = Decision.unusable("unparsable", "wanted an action, got nothing")
"""An answer that cannot be used."""


@dataclass(frozen=True, kw_only=True)
class Move:
    """The parts of a turn that a test sets; all others have usual values."""

    action: str | Decision | None
    """The action, or the whole decision; None for an answer that cannot be used."""
    state: State | None = None
    """The state in which it was decided."""
    optimal: tuple[str, ...] | None = None
    value: float | None = None
    text: str = "?"
    """What the agent was shown."""

    @property
    def decision(self) -> Decision:
        """The decision in full."""
        if isinstance(self.action, Decision):
            return self.action
        return MUTE if self.action is None else Decision.act(self.action)


def episode_of(
    moves: Sequence[Move],
    *,
    world: int | World = 0,
    condition: int = 0,
    index: int = 0,
    repeat: int = 0,
    ending: Ending = "horizon",
    reward: float = 1.0,
    horizon: int = 99,
    **given: Any,
) -> Trajectory:
    """An episode of these moves.

    Args:
        moves: its turns, in order.
        world: the world, or only its number.
        condition: its condition.
        index: the number of the world, where `world` is a `World`.
        repeat: the number of the repeat in that world.
        ending: its ending; "terminated" is at the goal.
        reward: of the last turn at the goal, a success if positive. All other turns
            earn nothing.
        horizon: the most turns allowed.
        **given: other fields of the trajectory.
    """
    place = World(id=f"world{world}") if isinstance(world, int) else world
    number = world if isinstance(world, int) else index
    turns = []
    for i, move in enumerate(moves):
        at_goal = ending == "terminated" and i == len(moves) - 1
        turns.append(
            Turn(
                index=i,
                observation=Observation(text=move.text),
                decision=move.decision,
                reward=reward * at_goal,
                terminated=at_goal,
                truncated=False,
                success=float(at_goal and reward > 0),
                state=move.state,
                optimal=move.optimal,
                value=move.value,
            )
        )
    usual: dict[str, Any] = {"seed": number, "labels": {}}
    return Trajectory(
        key=EpisodeKey(condition=condition, world=number, repeat=repeat),
        world=place,
        horizon=horizon,
        turns=tuple(turns),
        ending=ending,
        **(usual | given),
    )
