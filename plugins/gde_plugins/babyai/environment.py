"""BabyAI's worlds as an environment for acting step by step."""

from collections.abc import Sequence

from gde.data.goals import Goals
from gde.data.json import Json, Labels
from gde.data.observation import Observation, Optimum, Outcome, State, Task, World
from gde.errors import GdeError
from gde_plugins.babyai.config import BabyAIConfig, WorldConfig
from gde_plugins.babyai.descriptions.description import describe
from gde_plugins.babyai.descriptions.facts import names, state_facts, world_facts
from gde_plugins.babyai.descriptions.field_of_view import seen_cells
from gde_plugins.babyai.descriptions.formats import RULES, write
from gde_plugins.babyai.oracle.certificate import Certificates
from gde_plugins.babyai.oracle.distances import FAR
from gde_plugins.babyai.scoring.bounds import OPTIMUM
from gde_plugins.babyai.worlds.generation import minigrid_version
from gde_plugins.babyai.worlds.levels import difficulty
from gde_plugins.babyai.worlds.scene import ACTIONS, Scene
from gde_plugins.babyai.worlds.simulation import Simulation
from gde_plugins.babyai.worlds.source import Source
from gde_plugins.babyai.worlds.targets import targets, with_target


class BabyAIEnvironment:
    """Implements `HasOptimum`, `HasState`, `HasGoals`, `HasSnapshot` and `HasWorlds` of
    `gde.parts.environment`.

    The reward is minigrid's: 1 less nine tenths of the share of steps used, on success.
    """

    def __init__(self, config: BabyAIConfig) -> None:
        self._config = config
        self._source = Source(config)
        self._now: Simulation | None = None

    def worlds(self) -> Sequence[str]:
        """Return the listed seeds; none if every seed gives another world."""
        return self._source.names

    def reset(self, seed: int) -> Observation:
        """Begin in the world of a seed.

        Raises:
            GdeError: minigrid makes another world than it should.
        """
        return self._enter(self._source.scene(seed))

    def goals(self) -> Goals:
        """Return the things that the mission could have named, see `targets`."""
        return targets(self.now.scene)

    def set_goal(self, goal: str) -> Observation:
        """Begin the same rooms again with another thing as target."""
        return self._enter(with_target(self.now.scene, goal))

    def _enter(self, scene: Scene) -> Observation:
        self._now = Simulation(scene)
        self._names = names(scene)
        self._certificates = Certificates(self._config.search)
        return self._observe()

    @property
    def now(self) -> Simulation:
        """The present moment, which an expert needs to know; it must not be changed.

        Raises:
            GdeError: no episode has begun.
        """
        if self._now is None:
            raise GdeError(
                "the BabyAI environment has no episode yet: call reset(seed) first"
            )
        return self._now

    def task(self) -> Task:
        horizon = self._config.horizon or self.now.scene.max_steps
        return Task(
            objective=self.now.scene.text, horizon=horizon, rules=RULES, actions=ACTIONS
        )

    def world(self) -> World:
        """The scene. Facts are those of `world_facts` and the release of minigrid."""
        scene = self.now.scene
        facts = {**world_facts(scene), **provenance(self._config)}
        return World(id=scene.identity, facts=facts, labels=labels(scene))

    def state(self) -> State:
        """The moment, with the fact `optimum`: what is certain about it."""
        facts = state_facts(self.now, self._names)
        bounds = None if self.now.over else self._certificates.bounds(self.now)
        if bounds is None:
            return State(facts=facts)
        least, most = (None if each >= FAR else each for each in bounds.left)
        certain: Json = {
            "optimal": list(bounds.optimal),
            "undecided": list(bounds.undecided),
            "least": least,
            "most": most,
        }
        return State(facts={**facts, OPTIMUM: certain})

    def step(self, action: str) -> Outcome:
        now = self.now
        now.act(action)
        observation = self._observe()
        if now.over:
            success = float(now.succeeded)
            return Outcome.terminal(observation, now.reward, success=success)
        if now.n_steps >= now.scene.max_steps:
            return Outcome.cut_off(observation)
        return Outcome.running(observation)

    def optimum(self) -> Optimum | None:
        """Return the first actions of all shortest solutions; None if none is proven."""
        return self._certificates.optimum(self.now)

    def snapshot(self) -> Simulation:
        return self.now.copy()

    def restore(self, snapshot: object) -> Observation:
        if not isinstance(snapshot, Simulation) or not snapshot.is_of(self.now.scene):
            raise ValueError(f"wanted a snapshot of this episode, got {snapshot!r}")
        self._now = snapshot.copy()
        return self._observe()

    def reseed(self, seed: int) -> None:
        """Nothing is random."""

    def close(self) -> None:
        """Nothing to release."""

    def _observe(self) -> Observation:
        seen = seen_cells(self.now) if self._config.view == "partial" else None
        moment = describe(self.now, self._config.details, seen)
        return Observation(text=write(self._config.format, moment), actions=ACTIONS)


def labels(scene: Scene) -> Labels:
    """Return the labels of breakdowns of results."""
    return {
        "level": scene.level,
        "difficulty": difficulty(scene.level),
        "rooms": scene.rooms[0] * scene.rooms[1],
    }


def provenance(config: WorldConfig) -> dict[str, str]:
    """Return the release whose worlds these are, and the installed one."""
    return {"release": config.release, "minigrid": minigrid_version()}
