"""Counterfactual goals of key worlds: the generator's, given all else of a scene.

A scene of rooms is drawn as goal, agent, door, object (`scene.draw_rooms`), again until
it can be solved within the horizon. The chances of the later draws depend on the goal,
so they weigh it.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from gde.data.arrays import Doubles
from gde_plugins.grid.generation.redrawn import cell_name
from gde_plugins.grid.keyed.dynamics import KeyStates
from gde_plugins.grid.keyed.scene import PITCH, Scene, reachable, room_cells
from gde_plugins.grid.solver.dynamics import as_position


def alike_goals(scene: Scene, horizon: int) -> Mapping[str, float]:
    """Weigh the cells as far from the start as the goal by the generator's chances.

    With a door the distance is that by way of the key. Without one, the scene was drawn
    with a door that was then left out, so the weight is the sum over where it may have
    been.

    Two ways end where they end: there the goal is the only one.
    """
    goal = cell_name(scene.goal)
    if scene.layout != "rooms":
        return {goal: 1.0}

    weights = _weights(scene, horizon)
    steps = _steps(scene)
    as_far = steps == steps[scene.goal]
    cells = [as_position(cell) for cell in np.argwhere(as_far & (weights > 0))]
    return {cell_name(cell): float(weights[cell]) for cell in cells}


def _weights(scene: Scene, horizon: int) -> Doubles:
    """Return (height, width) chances of all else of the scene, given its goal."""
    free = ~scene.walls
    in_room = room_cells(len(scene.rows))
    # The agent is uniform over the cells of other rooms, which are as many for every
    # goal.
    rooms = np.indices(free.shape) // PITCH
    agent_room = np.array(scene.agent)[:, None, None] // PITCH
    possible = in_room & (rooms != agent_room).any(axis=0)

    # The door is uniform over the doorways that part agent and goal.
    doorways = [as_position(cell) for cell in np.argwhere(free & ~in_room)]
    at_hand = {door: reachable(free, door, scene.agent) for door in doorways}
    n_doors = np.sum([~each for each in at_hand.values()], axis=0)

    weights = np.zeros(free.shape)
    for door in doorways if scene.door is None else [scene.door]:
        # The object is uniform over the cells of rooms that the agent can reach.
        places = at_hand[door] & in_room
        places[scene.agent] = False
        if not places[scene.place]:
            continue
        as_drawn = replace(scene, door=door, artefact="key")
        solvable = _steps(as_drawn) <= horizon
        chosen = possible & ~at_hand[door] & solvable
        weights[chosen] += 1 / n_doors[chosen] / np.count_nonzero(places)
    return weights


def _steps(scene: Scene) -> Doubles:
    """Return (height, width) the fewest steps from the start to each cell; inf where
    there is no way.
    """
    states = KeyStates.of(scene)
    n_states, n_actions = states.successors.shape
    ends = np.arange(0, n_states * n_actions + 1, n_actions)
    entries = (np.ones(states.successors.size), states.successors.ravel(), ends)
    graph = csr_array(entries, shape=(n_states, n_states))
    found = dijkstra(graph, unweighted=True, indices=states.start)

    steps = np.full(scene.walls.shape, np.inf)
    np.minimum.at(steps, tuple(states.positions.T), found)
    return steps
