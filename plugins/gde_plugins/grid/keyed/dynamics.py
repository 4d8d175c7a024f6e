"""The rules of key worlds, and the model on states augmented by the object and the
door.

An object is taken by stepping onto its cell. A door opens as soon as an agent that
carries the key stands in one of the four cells beside it, and then is gone for good.
Until then it is like a wall.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from gde.data.arrays import Bools, Indices
from gde.data.mdp import TabularMDP
from gde_plugins.grid.keyed.scene import Scene
from gde_plugins.grid.solver.dynamics import FreeCells, shortest_way_model


class Stage(IntEnum):
    """The progress of an episode; it never goes back."""

    BEFORE = 0
    """The object, if there is one, lies in its place."""
    TAKEN = 1
    """The agent has stepped onto the object."""
    OPEN = 2
    """The door is gone."""


@dataclass(frozen=True, kw_only=True, eq=False)
class KeyStates:
    """The states: stages in order, in each the free cells in reading order.

    A stage leaves out the cells where it cannot last: no agent stands on an object that
    it has not taken, or with the key beside a locked door. Some of the others cannot be
    reached (e.g. behind the door without the key).
    """

    positions: Indices
    """(S, 2) row and column."""
    stages: Indices
    """(S,) `Stage`."""
    successors: Indices
    """(S, A) state that each action leads to; a wall leaves the agent where it is."""
    start: int
    goals: Bools
    """(S,) True where the agent stands on the goal."""

    @classmethod
    def of(cls, scene: Scene) -> "KeyStates":
        """Return the states of a scene, in as many stages as it has."""
        cells = FreeCells.of(scene.walls)
        stage_after = _stage_after(scene, cells)
        n_stages, n_cells = stage_after.shape
        lasting = stage_after == np.arange(n_stages)[:, None]
        reached = np.repeat(cells.successors[None], n_stages, axis=0)
        if scene.door is not None:
            # A closed door leaves the agent where it is, like a wall.
            door = cells.index(scene.door)
            lasting[: Stage.OPEN, door] = False
            closed = reached[: Stage.OPEN]
            reached[: Stage.OPEN] = np.where(
                closed == door, np.arange(n_cells)[:, None], closed
            )

        # Number the pairs that are states, then look up where each state's moves end.
        index = np.full(lasting.shape, -1)
        index[lasting] = np.arange(lasting.sum())
        stages, of_cells = lasting.nonzero()
        targets = reached[lasting]
        next_stages = stage_after[stages[:, None], targets]
        return cls(
            positions=cells.positions[of_cells],
            stages=stages,
            successors=index[next_stages, targets],
            start=int(index[Stage.BEFORE, cells.index(scene.agent)]),
            goals=of_cells == cells.index(scene.goal),
        )


def _stage_after(scene: Scene, cells: FreeCells) -> Indices:
    """Return (stages, cells) the stage of an agent after it arrives in a cell, by its
    stage before.
    """
    has_object = scene.artefact != "none"
    n_stages = 1 + has_object + (scene.door is not None)
    stages = np.arange(n_stages)
    after = np.repeat(stages[:, None], len(cells.positions), axis=1)
    if scene.door is not None:
        distances = np.abs(cells.positions - scene.door).sum(axis=1)
        beside = distances == 1
        after[Stage.TAKEN, beside] = Stage.OPEN
    if has_object:
        # Beside the door, taking the key opens it at once.
        place = cells.index(scene.place)
        after[Stage.BEFORE, place] = after[Stage.TAKEN, place]
    return after


def tabulate(scene: Scene, states: KeyStates) -> TabularMDP:
    """Return the scene's model: every step costs 1, the goal is terminal in every
    stage.

    Labels: `row`, `column`; `goal`, 1 there; `wall`, the number of walls beside the
    cell, a closed door being one; `carrying`, 1 once the object is taken; `door`, 1 in
    the doorway; and 1 in the object's place under the name of the object, e.g. `key`.
    """
    place = (states.positions == scene.place).all(axis=1)
    doorway = np.zeros(len(place))
    if scene.door is not None:
        doorway = (states.positions == scene.door).all(axis=1)
    labels = {
        "row": states.positions[:, 0],
        "column": states.positions[:, 1],
        "goal": states.goals,
        "wall": (states.successors == np.arange(len(place))[:, None]).sum(axis=1),
        "carrying": states.stages >= Stage.TAKEN,
        "door": doorway,
    }
    if scene.artefact != "none":
        labels[scene.artefact] = place
    floats = {name: values.astype(np.float64) for name, values in labels.items()}
    return shortest_way_model(states.successors, states.start, states.goals, floats)
