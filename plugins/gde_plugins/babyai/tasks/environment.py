"""A question as an environment of one turn: the answer is the action.

Its score is the reward.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from gde.data.json import Json
from gde.data.observation import Observation, Outcome, State, Task, World
from gde.errors import ConfigError, GdeError
from gde_plugins.babyai.config import PredictConfig, QuestionConfig, WorldConfig
from gde_plugins.babyai.descriptions.description import describe
from gde_plugins.babyai.descriptions.facts import names, state_facts, world_facts
from gde_plugins.babyai.descriptions.formats import RULES, introduce
from gde_plugins.babyai.environment import labels, provenance
from gde_plugins.babyai.tasks.blind import blind_answers
from gde_plugins.babyai.tasks.decompose import Decompose
from gde_plugins.babyai.tasks.grounded import GroundedPlan, GroundedPredict
from gde_plugins.babyai.tasks.plan import PlanQuestion
from gde_plugins.babyai.tasks.predict import Predict
from gde_plugins.babyai.tasks.published_rows import Row, question_of, read_rows
from gde_plugins.babyai.tasks.question import Question, Unanswerable, scores_of
from gde_plugins.babyai.worlds.levels import OFFICIAL_SEEDS
from gde_plugins.babyai.worlds.scene import Scene
from gde_plugins.babyai.worlds.simulation import Simulation
from gde_plugins.babyai.worlds.source import Source

KINDS: Mapping[str, Callable[[Scene], Question]] = {
    "predict": Predict,
    "plan": PlanQuestion,
    "decompose": Decompose,
}
GROUNDED: Mapping[str, Callable[[Scene, bool], Question]] = {
    "predict": GroundedPredict,
    "plan": GroundedPlan,
}
OBJECTIVE = "Answer the question about the world that is described."
ATTEMPTS = 50
"""Number of worlds tried for the examples of a prompt, and for a grounded pair."""
PAPER_SEEDS = 500
"""Number of seeds of the published datasets; a seed is replaced by one beyond them."""


class QuestionEnvironment:
    """Implements `gde.parts.environment.HasState`, `HasSnapshot` and `HasWorlds`.

    After the answer, the fact `scores` of the state holds its scores
    (`tasks.question.Scores`).
    """

    def __init__(self, kind: str, config: QuestionConfig) -> None:
        """Ask questions of a kind, a name of `KINDS`."""
        self._kind = kind
        self._make = KINDS[kind]
        self._is_grounded = isinstance(config, PredictConfig) and config.grounded
        if self._is_grounded:
            seeds = config.seeds or OFFICIAL_SEEDS
            config = replace(config, seeds=seeds, details=True)
        self._config = config
        self._source = Source(config)
        self._rows = read_rows(config.dataset, kind) if config.dataset else ()
        if self._rows and self._is_grounded:
            raise ConfigError("env.dataset has no grounded pairs: unset env.grounded")
        self._row: Row | None = None
        self._question: Question | None = None

    def worlds(self) -> Sequence[str]:
        """Return a name for each listed seed; empty if every seed gives another world.

        A pair of grounded questions has two.
        """
        if self._rows:
            return [
                f"{row['env_name']} {row['seed']}, row {place}"
                for place, row in enumerate(self._rows, start=1)
            ]
        if not self._is_grounded:
            return self._source.names
        pairs = product(self._source.names, ("as made", "changed"))
        return [", ".join(pair) for pair in pairs]

    def reset(self, seed: int) -> Observation:
        """Ask about the world of a seed.

        Raises:
            GdeError: the question has no solution in this world, or minigrid makes
            another world than it should.
        """
        try:
            if self._rows:
                self._row = self._rows[seed % len(self._rows)]
                release = self._config.release
                self._question = question_of(self._kind, self._row, release)
                self._scene = self._question.scene
            elif self._is_grounded:
                index, changed = divmod(seed % len(self.worlds()), 2)
                self._question = self._pair(index, bool(changed))
            else:
                self._scene = self._source.scene(seed)
                self._question = self._make(self._scene)
        except Unanswerable as error:
            raise GdeError(f"{self._kind}: {error}") from error
        self._scores: Mapping[str, Json] | None = None
        self._names = names(self.question.scene)
        self._blind: dict[str, Json] = {}
        for name, answer in blind_answers(self.question).items():
            reading = self.question.read(answer, "strict")
            self._blind[name] = self.question.judge(reading.value)
        return self._observe()

    def _pair(self, index: int, changed: bool) -> Question:
        """Make a question of the pair of a seed, or of the first after it that has one.

        Raises:
            Unanswerable: none has one.
        """
        make = GROUNDED[self._kind]
        first = self._config.seeds[index]
        numbers = range(first, first + ATTEMPTS * PAPER_SEEDS, PAPER_SEEDS)
        reason = ""
        for number in numbers:
            self._scene = self._source.another(number)
            try:
                return make(self._scene, changed)
            except Unanswerable as error:
                reason = reason or str(error)
        raise Unanswerable(reason)

    @property
    def question(self) -> Question:
        """The question of this episode.

        Raises:
            GdeError: no episode has begun.
        """
        if self._question is None:
            raise GdeError(
                f"the environment babyai-{self._kind} has no episode yet: call reset(seed) first"
            )
        return self._question

    def examples(self, number: int) -> Iterator[tuple[str, str]]:
        """Yield solved questions about the worlds of the next seeds."""
        seed = self.question.scene.seed
        found = 0
        for other in range(seed + 1, seed + ATTEMPTS):
            try:
                question = self._make(self._source.another(other))
            except Unanswerable:
                continue
            yield self._text(question), question.solution
            found += 1
            if found == number:
                return

    def task(self) -> Task:
        return Task(objective=OBJECTIVE, horizon=1, rules=RULES)

    def world(self) -> World:
        """Return the world with the facts `task` and `blind`.

        The latter holds the scores of each baseline that does not read the world.
        """
        scene = self.question.scene
        facts = {
            **world_facts(scene),
            **provenance(self._config),
            "task": self._kind,
            "blind": self._blind,
        }
        if isinstance(self.question, GroundedPredict | GroundedPlan):
            facts["change"] = self.question.change
        return World(
            id=f"{self._kind} {scene.identity}",
            facts=facts,
            labels=labels(scene),
            base=self._scene.identity,
        )

    def state(self) -> State:
        """Return the beginning of the world, and `scores` after the answer."""
        facts = state_facts(Simulation(self.question.scene), self._names)
        return State(facts={**facts, "scores": self._scores})

    def step(self, action: str) -> Outcome:
        """Score an answer."""
        if self._scores is not None:
            raise ValueError("the question has been answered: call reset(seed)")
        self._scores = scores_of(self.question, action)
        score = self._scores["score"]
        assert isinstance(score, float)
        return Outcome.terminal(self._observe(), score, success=score)

    def snapshot(self) -> tuple[str, Mapping[str, Json] | None]:
        """Return the identity of the world, and the scores if there are any."""
        return self.question.scene.identity, self._scores

    def restore(self, snapshot: object) -> Observation:
        match snapshot:
            case (self.question.scene.identity, Mapping() | None as scores):
                self._scores = scores
                return self._observe()
        raise ValueError(f"wanted a snapshot of this episode, got {snapshot!r}")

    def close(self) -> None:
        """Nothing to release."""

    def _observe(self) -> Observation:
        return Observation(text=self._text(self.question))

    def _text(self, question: Question) -> str:
        described = description(question.scene, self._config)
        if self._row is not None and question is self._question:
            described = self._row["env_description"]
        return f"{described}\n\n{question.asked}"


def description(scene: Scene, config: WorldConfig) -> str:
    """Describe the beginning of a world, after the rules."""
    moment = describe(Simulation(scene), config.details)
    return introduce(config.format, moment)
