"""What of the worlds and of the components can be chosen."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from annotated_types import Ge, Interval

from gde.errors import GdeError

if TYPE_CHECKING:
    from gde.data.activations import CaptureRequest
    from gde.data.completion import ModelInfo


@dataclass(frozen=True, kw_only=True)
class CliffWorldConfig:
    """One cliff world; a seed decides about its wind alone."""

    width: Annotated[int, Interval(ge=2, le=100)] = 10
    """Columns."""
    height: Annotated[int, Interval(ge=1, le=100)] = 4
    """Rows."""
    goal_length: Annotated[int, Ge(1)] = 1
    """Cells of the goal along the top row and along the last column, the corner counted in both."""
    wind: Annotated[float, Interval(ge=0, le=1)] = 0.3
    """Probability that a move ends one row further up."""
    horizon: Annotated[int, Interval(ge=1, le=1000)] = 30
    """Steps of an episode; the printed values of MacDermott et al. (2024) fit 30."""

    def __post_init__(self) -> None:
        most = min(self.height, self.width - 1)
        if self.goal_length > most:
            raise ValueError(
                f"a goal_length of at most {most} in a world of {self.height} x {self.width}, got {self.goal_length}"
            )


@dataclass(frozen=True, kw_only=True)
class CliffWorldStudyConfig:
    """How the networks of the study are fitted; everything else of it is exact."""

    starts: Annotated[int, Ge(1)] = 5
    """Networks fitted to each policy, whose mean is compared with the published mean of several runs."""
    steps: Annotated[int, Ge(1)] = 1000
    """Gradient steps of each, as the algorithm that MacDermott et al. (2024) adapted takes by default."""


@dataclass(frozen=True, kw_only=True)
class ValidityConfig:
    """How often each agent of the validity suite is measured, and on how much."""

    samples: Annotated[int, Ge(1)] = 200
    """Runs of each agent in each kind of world; `--scale` scales them."""
    worlds: Annotated[int, Ge(8)] = 30
    """Grids of a run, with one episode in each."""
    size: Annotated[int, Interval(ge=7, le=31)] = 9
    """Rows and columns of a grid; odd."""


@dataclass(frozen=True, kw_only=True)
class LanguageConfig:
    """Where a language model is asked for its action probabilities, and what they are compared with."""

    worlds: Annotated[int, Ge(2)] = 30
    """Grids; `--scale` scales them."""
    size: Annotated[int, Interval(ge=5, le=15)] = 7
    """Rows and columns of a grid; odd."""
    density: Annotated[float, Interval(ge=0, le=1)] = 1.0
    """Share of the inner walls of a maze that stay."""
    least: Annotated[float, Interval(gt=0, le=0.1)] = 0.01
    """Answers that are less probable are left out."""
    episodes: tuple[Annotated[int, Ge(1)], ...] = (1, 10, 100)
    """Episodes a grid of the samples that probabilities are compared with."""
    samples: Annotated[int, Ge(2)] = 100
    """Samples of each; `--scale` scales them."""


@dataclass(frozen=True, kw_only=True)
class MegConfig:
    """What the agent is taken to know."""

    deadline: bool = False
    """Whether the agent is told when the episode is cut off, so that it may give up what it cannot reach in time."""


@dataclass(frozen=True, kw_only=True)
class ComponentsConfig:
    """Which activations are summarised, and by how many numbers."""

    layer: Annotated[int, Ge(0)] | None = None
    """Decoder layer counted from 0; none for the middle one."""
    marks: tuple[str, ...] = ("pre", "post")
    """Token marks read, each summarised on its own: before and after the reasoning."""
    count: Annotated[int, Interval(ge=1, le=32)] = 3
    """Components kept. Each adds a weight for every feature of states, so few are better with few held-out turns."""

    def capture(self, model: "ModelInfo") -> "CaptureRequest":
        """The chosen layer of this model at the chosen marks.

        Raises:
            GdeError: the model has no such layer, or no activations at all.
        """
        from gde.data.activations import CaptureRequest

        if not model.n_layers:
            raise GdeError(f"probes read activations, and model {model.name!r} gives none; choose a white-box model")
        layer = (model.n_layers - 1) // 2 if self.layer is None else self.layer
        if layer >= model.n_layers:
            raise GdeError(f"layer: model {model.name!r} has layers 0 to {model.n_layers - 1}, got {layer}")
        return CaptureRequest(layers=(layer,), marks=self.marks)
