"""Options of the probes and of their metrics."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from annotated_types import Ge, Gt, Interval, MinLen

from gde.errors import GdeError

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

    from gde.data.activations import CaptureRequest
    from gde.data.completion import ModelInfo

Variant = Literal["mlp", "linear"]
PlanVariant = Literal["oneshot", "autoregressive"]
MapVariant = Literal["mlp", "linear", "bilinear", "cellwise", "ridge"]
Depth = Literal["early", "middle", "late", "all"]
THIRDS = {"early": 1, "middle": 2, "late": 3}
"""Depth to the number of thirds of the layers that lie before it."""
PENALTIES = tuple(10.0**power for power in range(-6, 7))

Index = Annotated[int, Ge(0)]
Count = Annotated[int, Ge(1)]
Positive = Annotated[float, Gt(0)]


class Several:
    """Marks an option where one value stands for a list of one."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: "GetCoreSchemaHandler"
    ) -> "CoreSchema":
        # Imported late, like NumPy: this module is read by every command.
        from pydantic_core.core_schema import no_info_before_validator_function

        def several(value: object) -> object:
            return value if isinstance(value, list | tuple) else (value,)

        return no_info_before_validator_function(several, handler(source))


@dataclass(frozen=True, kw_only=True)
class ReadingConfig:
    """Which activations are read."""

    layer: Annotated[tuple[Index | Depth, ...], Several()] = ("middle",)
    """Decoder layers counted from 0, or depths: `early`, `middle` and `late` are the
    last layers of each third (of 24 layers: 7, 15, 23), `all` is every layer. Each
    layer is read by a probe of its own.
    """
    positions: tuple[str, ...] = ("pre", "post")
    """Positions of the text that are read, each by a probe of its own: before and after
    the reasoning.
    """
    device: str = "cpu"
    """Where torch trains, e.g. cpu or cuda."""

    def __post_init__(self) -> None:
        # "variants" is a field of the probes' configurations, which inherit this one.
        for name in ("layer", "positions", "variants"):
            chosen = getattr(self, name, ("",))
            has_repeats = len(set(chosen)) != len(chosen)
            if has_repeats or not chosen:
                raise ValueError(f"{name}: at least one and each once, got {chosen}")

    def capture(self, model: "ModelInfo") -> "CaptureRequest":
        """The chosen layers of this model at the chosen positions.

        Raises:
            GdeError: the model has no such layer, or no activations at all.
        """
        from gde.data.activations import CaptureRequest

        if not model.n_layers:
            raise GdeError(
                f"probes read activations, and model {model.name!r} gives none; choose a white-box model"
            )

        # A depth and a number may name the same layer, which is captured once.
        layers: list[int] = []
        for chosen in self.layer:
            for index in _layers(chosen, model):
                if index not in layers:
                    layers.append(index)
        return CaptureRequest(layers=tuple(layers), positions=self.positions)


def _layers(layer: int | Depth, model: "ModelInfo") -> Sequence[int]:
    """Indices of the layers that a number or a depth stands for."""
    n_layers = model.n_layers
    if layer == "all":
        return range(n_layers)

    if isinstance(layer, str):
        n_before = round(n_layers * THIRDS[layer] / 3)
        # A model of one layer has nothing after a third of it.
        return (max(0, n_before - 1),)

    if layer >= n_layers:
        depths = ", ".join(get_args(Depth))
        wanted = f"0 to {n_layers - 1} or one of {depths}"
        raise GdeError(
            f"layer of a probe: model {model.name!r} has layers {wanted}, got {layer}"
        )
    return (layer,)


@dataclass(frozen=True, kw_only=True)
class ProbeConfig(ReadingConfig):
    """How a network of one hidden layer, or none, learns to read activations."""

    hidden: Count = 1024
    """Hidden units of the MLP."""
    whiten: bool = True
    """Even out the variance of the inputs' principal axes before training, beyond
    z-scoring. False is z-scoring alone, as in Arghal et al. (2026). Training then takes
    more steps to find the same kind of probe.
    """
    epochs: Count = 20
    """Passes over the training turns."""
    batch: Count = 32
    """Turns a step."""
    learning_rate: Positive = 3e-3
    """Learning rate of AdamW for the MLP at the first step; it falls to zero along half
    a cosine.
    """
    linear_learning_rate: Positive = 3e-2
    """The same for linear probes."""
    weight_decay: Annotated[float, Ge(0)] = 1e-3
    """Weight decay of AdamW."""


@dataclass(frozen=True, kw_only=True)
class DistanceConfig(ProbeConfig):
    """How the distance to the goal is decoded (Arghal et al. 2026, appendix F.3)."""

    variants: tuple[Variant, ...] = ("mlp", "linear")
    """Models fitted side by side, each with its controls; reports speak of the first.
    `linear` is ridge regression. Its penalty is chosen by predicting training worlds
    that are left out one at a time.
    """


@dataclass(frozen=True, kw_only=True)
class CogmapConfig(ProbeConfig):
    """How the map is decoded (Arghal et al. 2026, section 5.1)."""

    variants: tuple[MapVariant, ...] = ("mlp", "bilinear")
    """Models fitted side by side, each with its controls; reports speak of the first.
    `linear` is that of Arghal et al. (2026), linear in activations and coordinates
    together. It cannot peak within a map, so it misses things that are linearly there.
    `bilinear` is linear in the activations for each row and each column, `cellwise` for
    each cell. `ridge` is linear for each cell too, but fitted in closed form. It finds
    linear information however small, where gradient descent finds large directions
    first.
    """
    size: Annotated[int, Interval(ge=3, le=63)] = 15
    """Side of the decoded square. Smaller grids are padded to it. A probe of one size
    has that size.
    """
    cells: Count | None = 16
    """Cells of each turn a step, drawn so that the loss stays unbiased; none for
    all.
    """
    balance: Literal["classes", "none"] = "classes"
    """Weigh cells by the inverse frequency of their class, or all alike, as `ridge`
    always does.
    """
    penalties: Annotated[tuple[Positive, ...], MinLen(1), Several()] = PENALTIES
    """Penalties of `ridge` on squared weights of z-scored activations, against squared
    errors summed over turns. The probe takes the one that best predicts training worlds
    left out one at a time. A class that is in one cell of every turn has a penalty of
    its own.
    """


@dataclass(frozen=True, kw_only=True)
class PlanConfig(ReadingConfig):
    """How the actions to come are decoded (Arghal et al. 2026, section 5.3)."""

    variants: tuple[PlanVariant, ...] = ("oneshot",)
    """Models fitted side by side, each with its controls. `oneshot` names all actions
    at once. `autoregressive` names one after the other and sees those named before, so
    it can make up a plan that the activations do not hold.
    """
    horizon: Annotated[int, Interval(ge=2, le=256)] = 10
    """Number of decoded actions, the end counted as one. Turns with more actions to
    come are left out.
    """
    turns: Literal["all", "first"] = "all"
    """Turns that are decoded; `first` as published."""
    width: Annotated[int, Ge(8)] | None = None
    """Width of the decoder; none for the width of the model, at most 1,024."""
    depth: Count = 4
    """Layers of the decoder."""
    heads: Count = 8
    """Heads of the decoder's attention."""
    dropout: Annotated[float, Interval(ge=0, lt=1)] = 0.1
    """Share of hidden units left out at random in training."""
    epochs: Count = 20
    """Passes over the training turns."""
    batch: Count = 32
    """Turns a step."""
    learning_rate: Positive = 1e-3
    """Learning rate of AdamW at the first step; it falls to zero along half a
    cosine.
    """
    decay: Annotated[float, Interval(gt=0, le=1)] = 0.95
    """Weight of an action in the loss, relative to that before it."""


@dataclass(frozen=True, kw_only=True)
class CausesConfig:
    """How turns of a run are replayed with the residual stream changed."""

    probe: str = "cogmap"
    """Name of a probe of maps of the run. Every layer that it has read is tested."""
    variant: Literal["bilinear", "cellwise", "ridge"] = "bilinear"
    """The linear variant of the probe that gives the directions."""
    position: str = "pre"
    """The marked tokens of the prompt that are changed."""
    things: tuple[Literal["goal", "agent", "wall"], ...] = ("goal", "agent", "wall")
    """Things that are changed in the counterfactuals of the turns."""
    cases: Annotated[int, Ge(2)] = 24
    """Most turns replayed, one of each held-out world."""
    samples: Count = 1
    """Answers to each turn and change."""
    doses: tuple[Positive, ...] = (0.5, 1.0, 2.0)
    """Strengths of steering. A dose of 1 swaps the probe's scores of true and
    counterfactual place on average.
    """
