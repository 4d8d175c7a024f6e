"""A question as an environment of one turn: the answer is the action.

Its score is the reward.
"""

from collections.abc import Iterator, Mapping, Sequence

from gde.data.answer import quoted
from gde.data.json import Json
from gde.data.observation import Observation, Outcome, State, Task, World
from gde.errors import GdeError
from gde_plugins.babyai.config import QuestionConfig
from gde_plugins.babyai.descriptions.facts import names, state_facts, world_facts
from gde_plugins.babyai.descriptions.formats import RULES
from gde_plugins.babyai.environment import labels, provenance
from gde_plugins.babyai.tasks.asked import KINDS, Asked, description, questions_of
from gde_plugins.babyai.tasks.blind import blind_answers
from gde_plugins.babyai.tasks.grounded import Grounded
from gde_plugins.babyai.tasks.question import Question, Unanswerable, scores_of
from gde_plugins.babyai.worlds.simulation import Simulation
from gde_plugins.babyai.worlds.source import Source

OBJECTIVE = "Answer the question about the world that is described."
UNREAD: Mapping[str, str] = {
    "empty": "an empty answer",
    "too_long": "an answer that is too long",
    "unread": "the answer does not say one thing alone",
    "outside_grid": "the answer names a place outside the grid",
}
"""The reasons of `tasks.parsing` in words."""
ATTEMPTS = 50
"""Number of worlds tried for the examples of a prompt."""


class QuestionEnvironment:
    """Implements `gde.parts.environment.HasState`, `HasSnapshot`,
    `HasWorlds` and `HasRemarks`.

    After the answer, the fact `scores` of the state holds its scores
    (`tasks.question.Scores`).
    """

    def __init__(self, kind: str, config: QuestionConfig) -> None:
        """Ask questions of a kind, a name of `KINDS`."""
        self._kind = kind
        self._questions = questions_of(kind, config)
        self._asked: Asked | None = None

    def worlds(self) -> Sequence[str]:
        """Return a name for each listed question; empty if every seed gives another."""
        return self._questions.worlds

    def remarks(self) -> Sequence[str]:
        """Return how many rows of a dataset were left out, and why."""
        return self._questions.remarks

    def reset(self, seed: int) -> Observation:
        """Ask the question of a seed.

        Raises:
            GdeError: the question has no solution in this world, or minigrid makes
                another world than it should.
        """
        try:
            self._asked = self._questions.asked(seed)
        except Unanswerable as error:
            raise GdeError(f"{self._kind}: {error}") from error
        self._scores: Mapping[str, Json] | None = None
        self._names = names(self.question.scene)
        self._blind: dict[str, Json] = {}
        for name, answer in blind_answers(self.question).items():
            reading = self.question.read(answer, "published")
            self._blind[name] = self.question.judge(reading.value)
        return self._observe()

    @property
    def question(self) -> Question:
        """The question of this episode.

        Raises:
            GdeError: no episode has begun.
        """
        return self._now.question

    @property
    def _now(self) -> Asked:
        if self._asked is None:
            raise GdeError(
                f"the environment babyai-{self._kind} has no episode yet: call reset(seed) first"
            )
        return self._asked

    def examples(self, number: int) -> Iterator[tuple[str, str]]:
        """Yield solved questions about the worlds of the next seeds."""
        config = self._questions.config
        seed = self.question.scene.seed
        found = 0
        for other in range(seed + 1, seed + ATTEMPTS):
            scene = Source(config).another(other)
            try:
                question = KINDS[self._kind](scene)
            except Unanswerable:
                continue
            yield _text(description(scene, config), question), question.solution
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
            **provenance(self._questions.config),
            "task": self._kind,
            "blind": self._blind,
        }
        if isinstance(self.question, Grounded):
            facts["change"] = self.question.change
        return World(
            id=f"{self._kind} {scene.identity}",
            facts=facts,
            labels=labels(scene),
            base=self._now.base.identity,
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
        reading = str(self._scores["reading"])
        unread = f"{UNREAD[reading]}: {quoted(action)}" if reading in UNREAD else ""
        return Outcome.terminal(
            self._observe(),
            score,
            success=score,
            unread=unread,
            read=str(self._scores["read"]),
        )

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
        return Observation(text=_text(self._now.description, self.question))


def _text(described: str, question: Question) -> str:
    return f"{described}\n\n{question.asked}"
