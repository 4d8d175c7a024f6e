"""Tasks to pairs: the world of a task, and its replacements where no pair can be made
in it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from shutil import rmtree

from gde.errors import GdeError
from gde.parts.context import OutsideRun
from gde.parts.environment import HasWorlds
from gde.seeding import derive, generator
from gde_plugins.reward_prediction.config import Recipe
from gde_plugins.reward_prediction.domains import (
    Demonstrating,
    Domain,
    Settings,
    opened,
)
from gde_plugins.reward_prediction.files import Pair
from gde_plugins.reward_prediction.pairing import (
    Unsuitable,
    make_negative,
    make_positive,
)

REPLACEMENTS = 10
"""Worlds that are tried for one task, at most."""


@dataclass
class Maker:
    """Makes the pairs of a domain; keeps its environments open from one pair to the
    next.
    """

    domain: Domain
    recipe: Recipe
    asked: Settings = field(default_factory=dict)
    """Settings of the environment."""
    purpose: str = "test"
    """Worlds of two purposes have nothing in common where every seed is another
    world.
    """
    n_tasks: int = 0
    """All tasks of the domain, where they are more than the published number: no two of
    so many share a listed world. Fewer are a beginning of the whole, in the same
    worlds.
    """
    _open: dict[int, tuple[Demonstrating, OutsideRun]] = field(
        default_factory=dict, init=False
    )
    """Environment and context of each variant of the domain."""

    def pair(self, index: int) -> Pair:
        """The pair of a task: a function of recipe, settings, purpose and index alone.

        Raises:
            GdeError: the environment is not available, or no pair can be made in any of
            the worlds that were tried.
        """
        environment = self._environment(index % len(self.domain.variants))
        reason = "it has no world left"
        for seed in self._seeds(environment, index):
            rng = generator(
                self.recipe.seed,
                "rewardbench",
                self.domain.name,
                self.purpose,
                index,
                seed,
            )
            try:
                positive = make_positive(environment, seed, self.recipe, rng)
                negative = make_negative(environment, seed, positive, self.recipe, rng)
                return Pair(
                    domain=self.domain.name,
                    index=index,
                    positive=positive,
                    negative=negative,
                )
            except GdeError as error:
                reason = str(error)
        raise Unsuitable(
            f"domain {self.domain.name}: no pair for task {index}: {reason}"
        )

    def close(self) -> None:
        """Close all environments."""
        for environment, context in self._open.values():
            environment.close()
            if "scratch" in vars(context):
                rmtree(context.scratch, ignore_errors=True)
        self._open.clear()

    def _environment(self, variant: int) -> Demonstrating:
        if variant not in self._open:
            settings = self.domain.variant(variant, self.asked)
            context = OutsideRun()
            self._open[variant] = opened(self.domain, settings, context), context
        return self._open[variant][0]

    def _seeds(self, environment: Demonstrating, index: int) -> Iterator[int]:
        """Seeds of the worlds to try; tasks take turns at listed worlds, in an order
        drawn by the recipe's seed.
        """
        seed = self.recipe.seed
        name = self.domain.name
        n_worlds = 0
        if isinstance(environment, HasWorlds):
            n_worlds = len(environment.worlds())
        if n_worlds:
            order = generator(seed, "rewardbench", name).permutation(n_worlds).tolist()
            n_tasks = max(self.n_tasks, self.domain.pairs)
            yield from order[index::n_tasks][:REPLACEMENTS]
        else:
            for attempt in range(REPLACEMENTS):
                yield derive(seed, "rewardbench", name, self.purpose, index, attempt)
