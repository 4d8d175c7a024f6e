"""Problems from a folder, and random problems."""

from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from string import ascii_lowercase

import numpy as np

from gde.errors import ConfigError
from gde.foreign import ForeignFile
from gde.seeding import generator
from gde_plugins.blocksworld.arrangement import TABLE, Below
from gde_plugins.blocksworld.config import BlocksworldConfig
from gde_plugins.blocksworld.domain import Terms, read_terms
from gde_plugins.blocksworld.goal import Goal
from gde_plugins.blocksworld.pddl import PddlError, kind_of
from gde_plugins.blocksworld.problem import Problem, read_pddl

SETTING = "env.problems"
NAMES = (*ascii_lowercase, *(f"{letter}2" for letter in ascii_lowercase))
"""Of the blocks of random problems."""
TOWERS = "towers"
"""Part of the names of random streams."""
REDRAWN = 64
"""Goals that are drawn beside the one of a problem."""


@dataclass(frozen=True)
class Listed:
    """A problem file.

    It is read when it is played, so a broken one costs only its own episode.
    """

    name: str
    """Path within the folder."""
    file: ForeignFile
    terms: Terms

    def read(self) -> Problem:
        """Read the problem.

        Raises:
            ConfigError: the file cannot be read, or holds none.
        """
        try:
            return self.parsed()
        except PddlError as error:
            raise self.file.refused(str(error), error.line) from error

    def parsed(self) -> Problem:
        """Read the problem.

        Raises:
            ConfigError: the file cannot be read.
            PddlError: it holds no problem.
        """
        text = self.file.text(errors="replace")
        return read_pddl(text, self.name.removesuffix(".pddl"), self.terms)

    @property
    def digest(self) -> str:
        """Equal for equal files."""
        return sha256(self.file.path.read_bytes()).hexdigest()[:16]


def listed_problems(folder: Path | None) -> tuple[Listed, ...]:
    """List the problem files of a folder, sorted by path; none without a folder.

    A file that defines a domain is told apart by its content, whatever its name.

    Raises:
        ConfigError: the folder holds no problem, or the domain of another world.
    """
    if folder is None:
        return ()
    problems = []
    domains: dict[Path, list[ForeignFile]] = {}
    for path in sorted(folder.rglob("*.pddl")):
        file = ForeignFile(SETTING, path)
        if kind_of(file.text(errors="replace")) == "domain":
            domains.setdefault(path.parent, []).append(file)
        else:
            problems.append(file)
    if not problems:
        raise ConfigError(
            f"env.problems: wanted a folder with problems in PDDL (*.pddl), got none in {folder}"
        )
    read = cache(_terms)
    listed = []
    for file in problems:
        nearest = next(filter(None, map(domains.get, file.path.parents)), [])
        if len(nearest) > 1:
            names = " and ".join(each.path.name for each in nearest)
            raise nearest[0].refused(f"wanted one domain in a folder, got {names}")
        # Many problems share a domain, which is read once.
        terms = read(nearest[0]) if nearest else Terms()
        name = file.path.relative_to(folder).as_posix()
        listed.append(Listed(name, file, terms))
    return tuple(listed)


def _terms(file: ForeignFile) -> Terms:
    try:
        return read_terms(file.text(errors="replace"))
    except PddlError as error:
        raise file.refused(str(error), error.line) from error


def random_problem(config: BlocksworldConfig, seed: int) -> Problem:
    """Make the problem of a seed from two independent random arrangements.

    The goal does not hold at first.
    """
    rng = generator(seed, "blocksworld", config.blocks, TOWERS)
    while True:
        start = random_arrangement(config.blocks, rng)
        goal = random_goal(config.blocks, rng)
        if not goal.holds(start):
            # Seeds that draw the same problem give the same world, so the name does not
            # hold the seed.
            blocks = NAMES[: config.blocks]
            return Problem(name="random", blocks=blocks, start=start, goal=goal)


def random_goal(n_blocks: int, rng: np.random.Generator) -> Goal:
    """Ask for every on-relation of a random arrangement, as PlanBench does."""
    end = random_arrangement(n_blocks, rng)
    under = {block: support for block, support in enumerate(end) if support != TABLE}
    return Goal(under=under)


def redrawn(config: BlocksworldConfig, problem: Problem, seed: int) -> list[Problem]:
    """Draw the goal again, as `random_problem` does given the start.

    The draws depend on the seed and the start, not on the goal of the problem.
    """
    rng = generator(seed, "blocksworld goals", config.blocks, TOWERS)
    problems: list[Problem] = []
    while len(problems) < REDRAWN:
        goal = random_goal(config.blocks, rng)
        if not goal.holds(problem.start):
            problems.append(replace(problem, goal=goal))
    return problems


def random_arrangement(n_blocks: int, rng: np.random.Generator) -> Below:
    """Place blocks in random order, each on the table or on one of the towers with
    equal chances.
    """
    below = [TABLE] * n_blocks
    heads: list[int] = []
    for block in rng.permutation(n_blocks).tolist():
        place = int(rng.integers(len(heads) + 1))
        if place == len(heads):
            heads.append(block)
        else:
            below[block] = heads[place]
            heads[place] = block
    return tuple(below)
