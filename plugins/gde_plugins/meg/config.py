"""Options of the cliff world, of the metrics and of the studies."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Interval


@dataclass(frozen=True, kw_only=True)
class CliffWorldConfig:
    """One cliff world; its seed decides only the wind."""

    width: Annotated[int, Interval(ge=2, le=100)] = 10
    """Columns."""
    height: Annotated[int, Interval(ge=1, le=100)] = 4
    """Rows."""
    goal_length: Annotated[int, Ge(1)] = 1
    """Goal cells along the top row, and along the last column; the corner counts in
    both.
    """
    wind: Annotated[float, Interval(ge=0, le=1)] = 0.3
    """Probability that a move ends one row further up."""
    horizon: Annotated[int, Interval(ge=1, le=1000)] = 30
    """Steps of an episode; the printed values of MacDermott et al. (2024) fit 30."""

    def __post_init__(self) -> None:
        # The corner where the agent starts is never a goal.
        longest = min(self.height, self.width - 1)
        if self.goal_length > longest:
            size = f"{self.height} x {self.width}"
            raise ValueError(
                f"a goal_length of at most {longest} in a world of {size}, got {self.goal_length}"
            )


@dataclass(frozen=True, kw_only=True)
class CliffWorldStudyConfig:
    """How the networks of the study are fitted; everything else is exact."""

    starts: Annotated[int, Ge(1)] = 5
    """Number of networks fitted to each policy; their mean is compared with the
    published mean of several runs.
    """
    steps: Annotated[int, Ge(1)] = 1000
    """Gradient steps of each; the default of the algorithm that MacDermott et al.
    (2024) adapted.
    """


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


@dataclass(frozen=True, kw_only=True)
class VerdictConfig:
    """The simulation of the test's power."""

    runs: Annotated[int, Ge(0)] = 8
    """Simulated runs of a walker that is 70 % random, in the same worlds."""


@dataclass(frozen=True, kw_only=True)
class MegConfig:
    """What the agent is assumed to know."""

    deadline: bool = False
    """Assume that the agent knows the deadline."""


@dataclass(frozen=True, kw_only=True)
class KnownConfig(MegConfig):
    """The same, and how large a world without a model may be."""

    states: Annotated[int, Ge(2)] = 5000
    """Most states of a world that is explored because its environment gives no
    model.
    """


@dataclass(frozen=True, kw_only=True)
class BoundConfig:
    """How a world is sampled."""

    tries: Annotated[int, Ge(1)] = 1
    """Samples of each action in each decision. More than one needs an environment with
    a simulator, and makes the bound closer where chance plays a part.
    """
