"""Where the questions of an environment come from: worlds of seeds, pairs of worlds that
differ in one thing, or the rows of a dataset.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Protocol

from gde.errors import ConfigError, GdeError
from gde_plugins.babyai.config import QuestionConfig, WorldConfig
from gde_plugins.babyai.descriptions.description import describe
from gde_plugins.babyai.descriptions.formats import introduce
from gde_plugins.babyai.tasks.decompose import Decompose
from gde_plugins.babyai.tasks.grounded import (
    GroundedDecompose,
    GroundedPlan,
    GroundedPredict,
)
from gde_plugins.babyai.tasks.plan import PlanQuestion
from gde_plugins.babyai.tasks.predict import Predict
from gde_plugins.babyai.tasks.published_rows import question_of, read_rows
from gde_plugins.babyai.tasks.question import Question, Unanswerable
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
    "decompose": GroundedDecompose,
}
ATTEMPTS = 50
"""Number of worlds tried for a pair."""
PAPER_SEEDS = 500
"""Number of seeds of the published datasets; a seed is replaced by one beyond them."""


@dataclass(frozen=True)
class Asked:
    """A question with the description of its world."""

    question: Question
    description: str
    base: Scene
    """The world, or the one without the change."""


class Questions(Protocol):
    """The questions of an environment."""

    config: QuestionConfig
    remarks: Sequence[str]
    """On records that were left out."""
    worlds: Sequence[str]
    """A name for each listed question; empty if every seed gives another."""

    def asked(self, seed: int) -> Asked:
        """Ask the question of a seed.

        Raises:
            Unanswerable: it has no solution.
            GdeError: its world cannot be made.
        """


def questions_of(kind: str, config: QuestionConfig) -> Questions:
    """The questions of a configuration; `kind` is a name of `KINDS`."""
    if config.grounded:
        if config.dataset:
            raise ConfigError("env.dataset has no grounded pairs: unset env.grounded")
        return InPairs(kind, config)
    return OfRows(kind, config) if config.dataset else OfSeeds(kind, config)


class OfSeeds:
    """A question about the world of each seed."""

    def __init__(self, kind: str, config: QuestionConfig) -> None:
        self.config = config
        self._make = KINDS[kind]
        self._source = Source(config)
        self.worlds: Sequence[str] = self._source.names
        self.remarks: Sequence[str] = ()

    def asked(self, seed: int) -> Asked:
        scene = self._source.scene(seed)
        return Asked(self._make(scene), description(scene, self.config), scene)


class InPairs:
    """Two questions for each seed, about worlds that differ in one thing."""

    def __init__(self, kind: str, config: QuestionConfig) -> None:
        seeds = config.seeds or OFFICIAL_SEEDS
        self.config = replace(config, seeds=seeds, details=True)
        self._make = GROUNDED[kind]
        self._source = Source(self.config)
        pairs = product(self._source.names, ("as made", "changed"))
        self.worlds: Sequence[str] = [", ".join(pair) for pair in pairs]
        self.remarks: Sequence[str] = ()

    def asked(self, seed: int) -> Asked:
        """Ask about the pair of a seed, or the first after it that has a question."""
        index, changed = divmod(seed % len(self.worlds), 2)
        first = self.config.seeds[index]
        reason = ""
        for number in range(first, first + ATTEMPTS * PAPER_SEEDS, PAPER_SEEDS):
            base = self._source.another(number)
            try:
                question = self._make(base, bool(changed))
            except Unanswerable as error:
                reason = reason or str(error)
            else:
                described = description(question.scene, self.config)
                return Asked(question, described, base)
        raise Unanswerable(reason)


class OfRows:
    """The question of each row of a dataset, described in its words."""

    def __init__(self, kind: str, config: QuestionConfig) -> None:
        self.config = config
        self._kind = kind
        assert config.dataset is not None
        self._found = read_rows(config.dataset, kind)
        self._rows = [*self._found.rows.items()]
        self.worlds: Sequence[str] = [
            f"{row['env_name']} {row['seed']}, row {place}" for place, row in self._rows
        ]
        self.remarks: Sequence[str] = [
            *self._found.account.told(f"{self._found.file.path.name}, rows")
        ]

    def asked(self, seed: int) -> Asked:
        place, row = self._rows[seed % len(self._rows)]
        try:
            question = question_of(self._kind, row, self.config.release)
        except GdeError as error:
            raise self._found.file.refused(str(error), f"row {place}") from error
        return Asked(question, row["env_description"], question.scene)


def description(scene: Scene, config: WorldConfig) -> str:
    """Describe the beginning of a world, after the rules."""
    moment = describe(Simulation(scene), config.details)
    return introduce(config.format, moment)
