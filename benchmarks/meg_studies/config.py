"""Sizes of the studies."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Interval


@dataclass(frozen=True, kw_only=True)
class ValidityConfig:
    """Size of the validity suite."""

    samples: Annotated[int, Ge(1)] = 200
    """Runs of each agent in each kind of world; `--scale` scales them."""
    worlds: Annotated[int, Ge(8)] = 30
    """Worlds of a run, with one episode in each."""
    kinds: tuple[str, ...] = ()
    """Kinds of worlds, e.g. maze; none for all."""


@dataclass(frozen=True, kw_only=True)
class BaselinesConfig:
    """Size of the comparison with other measures of agency."""

    samples: Annotated[int, Ge(1)] = 200
    """Runs of each walker in each kind of grid; `--scale` scales them."""
    worlds: Annotated[int, Ge(8)] = 30
    """Grids of a run, with one episode in each."""
    size: Annotated[int, Interval(ge=7, le=31)] = 9
    """Rows and columns of a grid; odd."""


@dataclass(frozen=True, kw_only=True)
class LanguageConfig:
    """The grids of the study of a language model, and the samples that probabilities
    are compared with.
    """

    worlds: Annotated[int, Ge(2)] = 30
    """Number of grids; `--scale` scales it."""
    size: Annotated[int, Interval(ge=5, le=15)] = 7
    """Rows and columns of a grid; odd."""
    density: Annotated[float, Interval(ge=0, le=1)] = 1.0
    """Share of the inner walls of a maze that stay."""
    least: Annotated[float, Interval(gt=0, le=0.1)] = 0.01
    """Answers that are less probable are left out."""
    episodes: tuple[Annotated[int, Ge(1)], ...] = (1, 10, 100)
    """Episodes a grid, of each kind of sample that probabilities are compared with."""
    samples: Annotated[int, Ge(2)] = 100
    """Number of samples of each kind; `--scale` scales it."""
