"""Key worlds as environments."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gde.data.cell_map import THINGS
from gde.data.json import Json, Labels
from gde.data.mdp import TabularMDP
from gde.data.observation import Observation, State, Task, World
from gde_plugins.grid.keyed.dynamics import KeyStates, Stage, shortest_way, tabulate
from gde_plugins.grid.keyed.scene import Scene
from gde_plugins.grid.keyed.text import MECHANICS, SYMBOLS, stage_text
from gde_plugins.grid.rendering.layout import AGENT_SYMBOL, offsets, put
from gde_plugins.grid.rendering.vocabulary import Vocabulary
from gde_plugins.grid.solver.dynamics import ACTIONS, MOVES
from gde_plugins.grid.walking import Walker


@dataclass(frozen=True, kw_only=True)
class _Episode:
    """What stays the same from reset to reset, worked out once so that a step only looks things up."""

    scene: Scene
    mdp: TabularMDP
    distance: int
    """Length of the shortest way by way of the key where it is needed, in steps."""
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
    """Where each state's cell is in the text."""

    @classmethod
    def of(cls, scene: Scene) -> "_Episode":
        states = KeyStates.of(scene)
        mdp, positions = tabulate(scene, states), states.positions.tolist()
        return cls(
            scene=scene,
            mdp=mdp,
            distance=shortest_way(mdp),
            positions=positions,
            stages=states.stages.tolist(),
            moves={action: states.successors[:, a].tolist() for a, action in enumerate(ACTIONS)},
            start=states.start,
            goals=states.goals.tolist(),
            texts=[stage_text(scene, stage) for stage in Stage],
            offsets=offsets(scene.rows, positions),
        )


class KeyEnvironment(Walker[_Episode]):
    """Implements `gde.parts.environment.HasMDP`. States are pairs of stage and free cell; a step that reaches the key
    or the door takes or opens it."""

    def __init__(self, draw: Callable[[int], Scene], horizon: int, labels: Labels) -> None:
        """Worlds are the scenes that `draw` makes of seeds; `labels` are common to all."""
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
        return Task(objective=words.objective, rules=rules, horizon=self._horizon, actions=words.actions)

    def world(self) -> World:
        """The scene as it is at first.

        Facts are `rows` (a closed door is a wall), `agent`, `goal`, `moves` (action to rows and columns moved),
        `artefact`, `place` (where the artefact lies; in the twin without one, where it would), and the position of the
        artefact under its name and of the `door`, of those that there are, and `things` (which of them are things of
        the map). Label `distance` is the optimal length.
        """
        episode = self._episode
        scene = episode.scene
        facts: dict[str, Json] = {
            "rows": list(scene.closed_rows),
            "agent": list(scene.agent),
            "goal": list(scene.goal),
            "moves": {action: list(move) for action, move in MOVES.items()},
            "artefact": scene.artefact,
            "place": list(scene.place),
            "things": {**THINGS, **{name: {"letter": SYMBOLS[name]} for name in _objects(scene, Stage.BEFORE)}},
            **_objects(scene, Stage.BEFORE),
        }
        labels = {"size": len(scene.rows), "layout": scene.layout, "distance": episode.distance, **self._labels}
        return World(id=scene.identity, facts=facts, labels=labels, base=scene.base)

    def state(self) -> State:
        """Facts `agent`, `carrying` (whether the artefact was taken), the position of the artefact under its name
        (e.g. `key`) and of the `door`, null once they are gone, and with a door the present `rows`."""
        episode = self._episode
        scene, stage = episode.scene, Stage(episode.stages[self._state])
        facts: dict[str, Json] = {
            "agent": list(episode.positions[self._state]),
            "carrying": stage >= Stage.TAKEN,
            **_objects(scene, stage),
        }
        if scene.door is not None:
            facts["rows"] = list(scene.rows if stage == Stage.OPEN else scene.closed_rows)
        return State(facts=facts, index=self._state)

    def _observe(self) -> Observation:
        episode = self._episode
        text = put(episode.texts[episode.stages[self._state]], episode.offsets[self._state], AGENT_SYMBOL)
        return Observation(text=text, actions=ACTIONS)


def _objects(scene: Scene, stage: Stage) -> Mapping[str, Json]:
    """Where the artefact and the door are in a stage, null once they are gone; nothing of what was never there."""
    where: dict[str, Json] = {}
    if scene.artefact != "none":
        where[scene.artefact] = list(scene.place) if stage == Stage.BEFORE else None
    if scene.door is not None:
        where["door"] = list(scene.door) if stage < Stage.OPEN else None
    return where
