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
PENALTIES = tuple(10.0**power for power in range(-6, 7))
THIRDS = {"early": 1, "middle": 2, "late": 3}


class Several:
    """One value stands for a list of one."""

    def __get_pydantic_core_schema__(self, source: Any, handler: "GetCoreSchemaHandler") -> "CoreSchema":
        # Imported late, like NumPy: this module is read by every command.
        from pydantic_core.core_schema import no_info_before_validator_function

        def several(value: object) -> object:
            return value if isinstance(value, list | tuple) else (value,)

        return no_info_before_validator_function(several, handler(source))


@dataclass(frozen=True, kw_only=True)
class ReadingConfig:
    """Which activations are read."""

    layer: Annotated[tuple[Annotated[int, Ge(0)] | Depth, ...], Several()] = ("middle",)
    """Decoder layers counted from 0, or how deep: after 1/3, 2/3 or all of the layers (of 24: 7, 15, 23); `all` for
    every layer. Each is read by a probe of its own."""
    positions: tuple[str, ...] = ("pre", "post")
    """Positions that are read, each by a probe of its own: before and after the reasoning."""
    device: str = "cpu"
    """Where torch trains, e.g. cpu or cuda."""

    def __post_init__(self) -> None:
        for name in ("layer", "positions", "variants"):
            chosen = getattr(self, name, ("",))
            if not chosen or len(set(chosen)) != len(chosen):
                raise ValueError(f"{name}: at least one and each once, got {chosen}")

    def capture(self, model: "ModelInfo") -> "CaptureRequest":
        """The chosen layers of this model at the chosen positions.

        Raises:
            GdeError: the model has no such layer, or no activations at all.
        """
        from gde.data.activations import CaptureRequest

        if not model.n_layers:
            raise GdeError(f"probes read activations, and model {model.name!r} gives none; choose a white-box model")
        layers = dict.fromkeys(index for each in self.layer for index in _layers(each, model))
        return CaptureRequest(layers=tuple(layers), positions=self.positions)


def _layers(layer: int | Depth, model: "ModelInfo") -> Sequence[int]:
    if layer == "all":
        return range(model.n_layers)
    if isinstance(layer, str):
        return (max(0, round(model.n_layers * THIRDS[layer] / 3) - 1),)
    if layer >= model.n_layers:
        wanted = f"0 to {model.n_layers - 1} or one of {', '.join(get_args(Depth))}"
        raise GdeError(f"layer of a probe: model {model.name!r} has layers {wanted}, got {layer}")
    return (layer,)


@dataclass(frozen=True, kw_only=True)
class ProbeConfig(ReadingConfig):
    """How a network of one hidden layer, or none, learns to read activations."""

    hidden: Annotated[int, Ge(1)] = 1024
    """Hidden units of the MLP."""
    whiten: bool = True
    """Even out the variance of the inputs' principal axes before training, beyond z-scoring; false for z-scoring
    alone, as in Arghal et al. (2026). The probe stays the same function of the activations, and is found in fewer
    steps."""
    epochs: Annotated[int, Ge(1)] = 20
    """Passes over the training turns."""
    batch: Annotated[int, Ge(1)] = 32
    """Turns a step."""
    learning_rate: Annotated[float, Gt(0)] = 3e-3
    """Of AdamW for the MLP at the first step; it falls to zero along half a cosine."""
    linear_learning_rate: Annotated[float, Gt(0)] = 3e-2
    """The same for linear probes."""
    weight_decay: Annotated[float, Ge(0)] = 1e-3
    """Of AdamW."""


@dataclass(frozen=True, kw_only=True)
class DistanceConfig(ProbeConfig):
    """How the distance to the goal is decoded (Arghal et al. 2026, appendix F.3)."""

    variants: tuple[Variant, ...] = ("mlp", "linear")
    """Models fitted side by side, each with its controls; reports speak of the first. `linear` is ridge
    regression, its penalty the one that predicts training worlds left out one at a time best."""


@dataclass(frozen=True, kw_only=True)
class CogmapConfig(ProbeConfig):
    """How the map is decoded (Arghal et al. 2026, section 5.1)."""

    variants: tuple[MapVariant, ...] = ("mlp", "bilinear")
    """Models fitted side by side, each with its controls; reports speak of the first. `linear` is that of Arghal et al.
    (2026), linear in activations and coordinates together: it cannot peak within a map, so what it misses may well be
    there linearly. `bilinear` is linear in the activations for each row and each column, `cellwise` for each cell.
    `ridge` is so too, fitted to its end in closed form instead of for some epochs: it says whether something stands
    there linearly however small, where the others find first what stands there large."""
    size: Annotated[int, Interval(ge=3, le=63)] = 15
    """Side of the decoded square. Smaller grids are padded to it; equal to the grid's own for a size-specific probe."""
    cells: Annotated[int, Ge(1)] | None = 16
    """Cells of each turn a step, drawn so that the loss stays unbiased; none for all."""
    balance: Literal["classes", "none"] = "classes"
    """Weigh cells by the inverse frequency of their class, or all alike, as `ridge` always does."""
    penalties: Annotated[tuple[Annotated[float, Gt(0)], ...], MinLen(1), Several()] = PENALTIES
    """Of `ridge`, on squared weights of z-scored activations against squared errors summed over turns; that which
    predicts training worlds left out one at a time best is taken, for a class that is in one cell of every turn by
    itself."""


@dataclass(frozen=True, kw_only=True)
class PlanConfig(ReadingConfig):
    """How the actions to come are decoded (Arghal et al. 2026, section 5.3)."""

    variants: tuple[PlanVariant, ...] = ("oneshot",)
    """Models fitted side by side, each with its controls: `oneshot` names all actions at once, `autoregressive` one by
    one, each seeing those named before, so that it can make up a plan that the activations do not hold."""
    horizon: Annotated[int, Interval(ge=2, le=256)] = 10
    """Actions decoded, the end counted as one; turns with more to come are left out."""
    turns: Literal["all", "first"] = "all"
    """Turns that are decoded; `first` as published."""
    width: Annotated[int, Ge(8)] | None = None
    """Of the decoder; none for that of the model, at most 1,024."""
    depth: Annotated[int, Ge(1)] = 4
    """Layers of the decoder."""
    heads: Annotated[int, Ge(1)] = 8
    """Of its attention."""
    dropout: Annotated[float, Interval(ge=0, lt=1)] = 0.1
    """Share of hidden units left out at random in training."""
    epochs: Annotated[int, Ge(1)] = 20
    """Passes over the training turns."""
    batch: Annotated[int, Ge(1)] = 32
    """Turns a step."""
    learning_rate: Annotated[float, Gt(0)] = 1e-3
    """Of AdamW at the first step; it falls to zero along half a cosine."""
    decay: Annotated[float, Interval(gt=0, le=1)] = 0.95
    """Weight of an action in the loss, relative to that before it."""


@dataclass(frozen=True, kw_only=True)
class CausesConfig:
    """How the turns of a run are asked again with the residual stream changed."""

    probe: str = "cogmap"
    """Name of a probe of maps that the run was read by; every layer that it has read is tested."""
    variant: Literal["bilinear", "cellwise", "ridge"] = "bilinear"
    """Which of its linear variants gives the directions."""
    position: str = "pre"
    """The marked tokens of the prompt that are changed."""
    things: tuple[Literal["goal", "agent", "wall"], ...] = ("goal", "agent", "wall")
    """Things that are changed in the counterfactuals of the turns."""
    cases: Annotated[int, Ge(2)] = 24
    """Most turns replayed, one of each held-out world."""
    samples: Annotated[int, Ge(1)] = 1
    """Answers to each turn and change."""
    doses: tuple[Annotated[float, Gt(0)], ...] = (0.5, 1.0, 2.0)
    """Strengths of steering: at 1, a probe's scores of the true and the counterfactual place are swapped on average."""
