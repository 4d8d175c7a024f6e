"""Key worlds as environments. Below the usual text of the grid, a line says whether the
agent carries the key.

Counterfactual worlds differ in one cell of the text and in nothing else: the rules name
every object, present or not.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gde.data.cell_map import THINGS
from gde.data.json import Json, Labels
from gde.data.mdp import TabularMDP
from gde.data.observation import Observation, State, Task, World
from gde_plugins.grid.keyed.dynamics import KeyStates, Stage, shortest_way, tabulate
from gde_plugins.grid.keyed.scene import Scene
from gde_plugins.grid.rendering.layout import (
    AGENT_SYMBOL,
    GOAL_SYMBOL,
    empty_text,
    offsets,
    put,
)
from gde_plugins.grid.rendering.vocabulary import Vocabulary
from gde_plugins.grid.solver.dynamics import ACTIONS, MOVES
from gde_plugins.grid.walking import Walker

SYMBOLS = {"key": "K", "coin": "C", "flag": "F", "door": "D"}
"""Letters of objects, in the text and in pictures."""
MECHANICS = (
    "K is a key, C a coin, F a flag and D a locked door; not every grid holds them. Stepping onto a key, a coin or a"
    " flag takes it off the grid. A locked door cannot be entered. It opens by itself, and is a free cell from then"
    " on, as soon as the agent carries the key and stands right above, below, left or right of it. The line below the"
    " grid says whether the agent carries the key."
)


@dataclass(frozen=True, kw_only=True)
class _Episode:
    """Everything that is equal in all steps of an episode, computed once so that a step
    is quick.
    """

    scene: Scene
    mdp: TabularMDP
    distance: int
    """Length of the shortest way, with the detour to a needed key, in steps."""
    positions: list[list[int]]
    """[row, column] of every state."""
    stages: list[int]
    moves: dict[str, list[int]]
    """Action to the successor of every state."""
    start: int
    goals: list[bool]
    texts: list[str]
    """The text of every stage, without the agent."""
    offsets: list[int]
    """Index in the text of each state's cell."""

    @classmethod
    def of(cls, scene: Scene) -> "_Episode":
        states = KeyStates.of(scene)
        mdp = tabulate(scene, states)
        positions = states.positions.tolist()
        moves: dict[str, list[int]] = {}
        for action, successors in zip(ACTIONS, states.successors.T, strict=True):
            moves[action] = successors.tolist()
        return cls(
            scene=scene,
            mdp=mdp,
            distance=shortest_way(mdp),
            positions=positions,
            stages=states.stages.tolist(),
            moves=moves,
            start=states.start,
            goals=states.goals.tolist(),
            texts=[stage_text(scene, stage) for stage in Stage],
            offsets=offsets(scene.rows, positions),
        )


class KeyEnvironment(Walker[_Episode]):
    """Implements `gde.parts.environment.HasMDP`. States are pairs of stage and free
    cell; a step that reaches the key or the door takes or opens it.
    """

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
        self._played = _Episode.of(self._draw(seed))
        self._state = self._played.start
        return self._observe()

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
        episode = self._episode
        scene = episode.scene
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
            "distance": episode.distance,
            **self._labels,
        }
        return World(id=scene.identity, facts=facts, labels=labels, base=scene.base)

    def state(self) -> State:
        """Return the facts of the present state.

        They are `agent`, `carrying` (whether the artefact was taken), the position of
        the artefact under its name (e.g. `key`) and of the `door`, null once they are
        gone, and with a door the present `rows`.
        """
        episode = self._episode
        scene = episode.scene
        stage = Stage(episode.stages[self._state])
        facts: dict[str, Json] = {
            "agent": list(episode.positions[self._state]),
            "carrying": stage >= Stage.TAKEN,
            **_objects(scene, stage),
        }
        if scene.door is not None:
            facts["rows"] = list(
                scene.rows if stage == Stage.OPEN else scene.closed_rows
            )
        return State(facts=facts, index=self._state)

    def _observe(self) -> Observation:
        episode = self._episode
        without_agent = episode.texts[episode.stages[self._state]]
        text = put(without_agent, episode.offsets[self._state], AGENT_SYMBOL)
        return Observation(text=text, actions=ACTIONS)


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
