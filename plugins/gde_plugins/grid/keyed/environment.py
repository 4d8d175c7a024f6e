"""The three key worlds as environments. Below the usual text of the grid, a line says whether the
agent carries the key.

Counterfactual worlds differ in one cell of the text and in nothing else: the rules name
every object, present or not.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from gde.data.cell_map import THINGS
from gde.data.goals import Goals
from gde.data.json import Json, Labels
from gde.data.observation import Observation, State, Task, World
from gde.errors import GdeError
from gde.seeding import generator
from gde_plugins.grid.generation.redrawn import cell_name, named_cell
from gde_plugins.grid.keyed.config import (
    KeyDoorConfig,
    KeyNoDoorConfig,
    TwoPathKeyConfig,
)
from gde_plugins.grid.keyed.dynamics import KeyStates, Stage, tabulate
from gde_plugins.grid.keyed.redrawn import alike_goals
from gde_plugins.grid.keyed.scene import Scene, draw_rooms, draw_two_paths
from gde_plugins.grid.rendering.layout import (
    AGENT_SYMBOL,
    GOAL_SYMBOL,
    empty_text,
    offsets,
    put,
)
from gde_plugins.grid.rendering.vocabulary import Vocabulary
from gde_plugins.grid.solver.dynamics import MOVES
from gde_plugins.grid.walking import Walk, Walker, shortest_way

SYMBOLS = {"key": "K", "coin": "C", "flag": "F", "door": "D"}
"""Letters of objects, in the text and in pictures."""
MECHANICS = (
    "K is a key, C a coin, F a flag and D a locked door; not every grid holds them. Stepping onto a key, a coin or a"
    " flag takes it off the grid. A locked door cannot be entered. It opens by itself, and is a free cell from then"
    " on, as soon as the agent carries the key and stands right above, below, left or right of it. The line below the"
    " grid says whether the agent carries the key."
)


ATTEMPTS = 200
"""Scenes drawn, at most, to find one that can be solved within the horizon."""


class KeyEnvironment(Walker):
    """Implements `HasMDP` and `HasGoals` of `gde.parts.environment`. States are pairs of stage and free
    cell; a step that reaches the key or the door takes or opens it.
    """

    _symbol = AGENT_SYMBOL

    def __init__(
        self, draw: Callable[[int], Scene], horizon: int, labels: Labels
    ) -> None:
        """Take a function from seeds to scenes, and labels common to all worlds."""
        super().__init__()
        self._draw = draw
        self._horizon = horizon
        self._labels = labels

    def reset(self, seed: int) -> Observation:
        """Begin in the scene of this seed.

        Raises:
            GdeError: no scene can be solved within the horizon.
        """
        return self._enter(self._draw(seed))

    def goals(self) -> Goals:
        """Return the cells that are as far from the start as the goal, as "ROW,COLUMN"."""
        weights = alike_goals(self._scene, self._horizon)
        return Goals.weighted(weights, cell_name(self._scene.goal))

    def set_goal(self, goal: str) -> Observation:
        """Begin the same scene again with the goal in another of these cells."""
        wanted = self.goals().probabilities
        if goal not in wanted:
            raise ValueError(
                f"wanted one of the goals {', '.join(wanted)}, got {goal!r}"
            )
        return self._enter(replace(self._scene, goal=named_cell(goal)))

    def _enter(self, scene: Scene) -> Observation:
        states = KeyStates.of(scene)
        texts = [stage_text(scene, stage) for stage in Stage]
        self._scene = scene
        self._stages = states.stages.tolist()
        of_states = [texts[stage] for stage in self._stages]
        return self._begin(Walk.of(tabulate(scene, states), scene.rows, of_states))

    def task(self) -> Task:
        words = Vocabulary()
        rules = f"{words.rules} {MECHANICS}"
        return Task(
            objective=words.objective,
            rules=rules,
            horizon=self._horizon,
            actions=words.actions,
        )

    def world(self) -> World:
        """Return the scene at the beginning.

        Facts are `rows` (a closed door is a wall), `agent`, `goal`, `moves` (action to
        rows and columns moved), `artefact`, `place` (the cell of the artefact; in the
        counterfactual without one, the same cell), the positions of an artefact under
        its name and of a `door`, and `things` (the things of the map). Label `distance`
        is the optimal length.
        """
        distance = self._walk.distance
        scene = self._scene
        objects = _objects(scene, Stage.BEFORE)
        letters: dict[str, Json] = {name: {"letter": SYMBOLS[name]} for name in objects}
        facts: dict[str, Json] = {
            "rows": list(scene.closed_rows),
            "agent": list(scene.agent),
            "goal": list(scene.goal),
            "moves": {action: list(move) for action, move in MOVES.items()},
            "artefact": scene.artefact,
            "place": list(scene.place),
            "things": {**THINGS, **letters},
            **objects,
        }
        labels = {
            "size": len(scene.rows),
            "layout": scene.layout,
            "distance": distance,
            **self._labels,
        }
        return World(id=scene.identity, facts=facts, labels=labels, base=scene.base)

    def state(self) -> State:
        """Return the facts of the present state.

        They are `agent`, `carrying` (whether the artefact was taken), the position of
        the artefact under its name (e.g. `key`) and of the `door`, null once they are
        gone, and with a door the present `rows`.
        """
        here = self._walk.positions[self._state]
        scene = self._scene
        stage = Stage(self._stages[self._state])
        facts: dict[str, Json] = {
            "agent": list(here),
            "carrying": stage >= Stage.TAKEN,
            **_objects(scene, stage),
        }
        if scene.door is not None:
            facts["rows"] = list(
                scene.rows if stage == Stage.OPEN else scene.closed_rows
            )
        return State(facts=facts, index=self._state)


def _objects(scene: Scene, stage: Stage) -> Mapping[str, Json]:
    """Return the positions of artefact and door, if the scene has them; null once they
    are gone.
    """
    where: dict[str, Json] = {}
    if scene.artefact != "none":
        where[scene.artefact] = list(scene.place) if stage == Stage.BEFORE else None
    if scene.door is not None:
        where["door"] = list(scene.door) if stage < Stage.OPEN else None
    return where


def stage_text(scene: Scene, stage: Stage) -> str:
    """Return the text of one stage without the agent, which stands at one of the
    `offsets`.
    """
    at_goal, at_place = offsets(scene.rows, [scene.goal, scene.place])
    text = put(empty_text(scene.rows), at_goal, GOAL_SYMBOL)
    if stage == Stage.BEFORE and scene.artefact != "none":
        text = put(text, at_place, SYMBOLS[scene.artefact])
    if stage < Stage.OPEN and scene.door is not None:
        (at_door,) = offsets(scene.rows, [scene.door])
        text = put(text, at_door, SYMBOLS["door"])

    # Also said in worlds without a key, so that the counterfactuals read alike.
    carries_key = scene.artefact == "key" and stage >= Stage.TAKEN
    return f"{text}\nCarrying key: {carries_key}"


def key_door(config: KeyDoorConfig) -> KeyEnvironment:
    """The key is needed: it opens the door on the only way to the goal."""
    return KeyEnvironment(partial(_rooms, config), config.horizon, {})


def key_no_door(config: KeyNoDoorConfig) -> KeyEnvironment:
    """The scenes of `key_door` seed for seed, without the door, and with a useless
    object.
    """

    def draw(seed: int) -> Scene:
        return replace(_rooms(config, seed), door=None, artefact=config.artefact)

    return KeyEnvironment(draw, config.horizon, {"artefact": config.artefact})


def two_path_key(config: TwoPathKeyConfig) -> KeyEnvironment:
    """A useless object lies on one of two equally short ways."""

    def draw(seed: int) -> Scene:
        rng = generator(seed, "two paths", config.size, config.horizon)
        scene = solvable(partial(draw_two_paths, config.size), config.horizon, rng)
        return replace(scene, artefact=config.artefact)

    return KeyEnvironment(draw, config.horizon, {"artefact": config.artefact})


def _rooms(config: KeyDoorConfig, seed: int) -> Scene:
    # The stream does not depend on door and artefact, so that the variations of a seed
    # are one scene.
    rng = generator(seed, "rooms", config.rooms, config.horizon)
    return solvable(partial(draw_rooms, config.rooms), config.horizon, rng)


def solvable(
    draw: Callable[[np.random.Generator], Scene], horizon: int, rng: np.random.Generator
) -> Scene:
    """The first scene drawn whose shortest way, by way of the key where it is needed,
    is within the horizon.

    Raises:
        GdeError: none in many.
    """
    for _ in range(ATTEMPTS):
        scene = draw(rng)
        if shortest_way(tabulate(scene, KeyStates.of(scene))) <= horizon:
            return scene
    raise GdeError(
        f"no key world with a shortest way of at most {horizon} steps in {ATTEMPTS} attempts: choose a longer horizon"
    )
