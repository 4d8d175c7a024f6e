"""Options of the probes and of their metrics."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from annotated_types import Ge, Gt, Interval, MinLen

from gde.data.how import How
from gde.data.place import RESIDUAL, check_place
from gde.data.ranges import Count, Index, PositiveShare
from gde.errors import GdeError
from gde.offers import FilePath, WeightsName
from gde_plugins.probes.course.events import FORMS
from gde_plugins.probes.course.positions import CoursePositions

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

    from gde.data.activations import CaptureRequest
    from gde.data.completion import ModelInfo

Variant = Literal["mlp", "linear"]
MapVariant = Literal["places", "mlp", "linear", "bilinear", "cellwise", "ridge"]
Position = Literal["pre", "post", "reasoning"]
Place = Literal[
    "pre",
    "post",
    "reasoning",
    "course",
    "course-before",
    "course-agent",
    "course-goal",
    "course-move",
    "course-last",
    "course-after",
]
Depth = Literal["early", "middle", "late", "all"]
THIRDS = {"early": 1, "middle": 2, "late": 3}
"""Depth to the number of thirds of the layers up to it."""
PENALTIES = tuple(10.0**power for power in range(-6, 7))

Positive = Annotated[float, Gt(0)]


class Several:
    """Marks an option where one value stands for a list of one."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: "GetCoreSchemaHandler"
    ) -> "CoreSchema":
        # Imported late, like NumPy: this module is read by every command.
        from pydantic_core.core_schema import no_info_before_validator_function

        def several(value: object) -> object:
            # A list on a command line would fit as one text.
            if isinstance(value, str) and value.startswith("["):
                value = json.loads(value)
            return tuple(value) if isinstance(value, list | tuple) else (value,)

        return no_info_before_validator_function(several, handler(source))


@dataclass(frozen=True, kw_only=True)
class ReadingConfig:
    """Layers and positions to read."""

    layer: Annotated[tuple[Index | Depth, ...], Several()] = ("middle",)
    """Decoder layers counted from 0, or depths: `early`, `middle` and `late` are the
    last layers of each third (of 24 layers: 7, 15, 23), `all` is every layer. Each
    layer has its own probe.
    """
    weights: WeightsName = ""
    """Local weights of a served model, e.g. hf:PATH_OR_ID, which replay its answers;
    empty if the agent's model gives activations itself.
    """
    positions: Annotated[tuple[Place, ...], Several()] = ("pre", "post")
    """Token positions to probe: before and after the reasoning, or all of its tokens;
    `course` for all events of a reasoning, or one of them, e.g. `course-goal`. Each
    position has its own probe.
    """
    events: Mapping[str, str] = field(default_factory=dict)
    """The words of each event: a regular expression with a group around what is said, as
    of the metric `events`. Those that are left out have nano's.
    """
    trained_on: str = ""
    """Folder of another run of the same weights, to whose worlds the probe and its
    controls are fitted; empty for those of this run. All worlds are held out that are
    not trained on there.
    """
    device: Annotated[str, How] = "cpu"
    """Device of the training, e.g. cpu or cuda."""

    def __post_init__(self) -> None:
        # "variants" is a field of the probes' configurations, which inherit this one.
        for name in ("layer", "positions", "variants"):
            chosen = getattr(self, name, ("",))
            if name == "positions":
                chosen = self.course.read
            has_repeats = len(set(chosen)) != len(chosen)
            if has_repeats or not chosen:
                raise ValueError(f"{name}: at least one and each once, got {chosen}")
        check_events(self.events)

    @property
    def course(self) -> CoursePositions:
        """The positions, and what finds those of events."""
        return CoursePositions.of(self.positions, self.events)

    def capture(self, model: "ModelInfo") -> "CaptureRequest":
        """Return the chosen layers of this model at the chosen positions.

        Raises:
            GdeError: the model has no such layer, or no activations at all.
        """
        from gde.data.activations import CaptureRequest

        if not model.n_layers:
            raise GdeError(
                f"probes read activations, and model {model.name!r} gives none; choose a white-box model"
            )

        layers = layers_of(self.layer, model)
        return CaptureRequest(layers=layers, positions=self.course.read)


def layers_of(chosen: Sequence[int | Depth], model: "ModelInfo") -> tuple[int, ...]:
    """Return the indices of layers of this model.

    Raises:
        GdeError: the model has no such layer.
    """
    # A depth and a number may name the same layer, which is captured once.
    layers: list[int] = []
    for each in chosen:
        for index in _layers(each, model):
            if index not in layers:
                layers.append(index)
    return tuple(layers)


def _layers(layer: int | Depth, model: "ModelInfo") -> Sequence[int]:
    """Return the indices of the layers of a number or a depth."""
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
        raise GdeError(f"layer: model {model.name!r} has layers {wanted}, got {layer}")
    return (layer,)


@dataclass(frozen=True, kw_only=True)
class ProbeConfig(ReadingConfig):
    """Training of a network with one hidden layer or none on activations."""

    hidden: Count = 1024
    """Hidden units of the MLP."""
    whiten: bool = True
    """Whiten the inputs; false only z-scores them, as in Arghal et al. (2026) and in
    the reproductions of it. Without whitening, training takes more steps.
    """
    epochs: Count = 20
    """Passes over the training turns."""
    batch: Count = 32
    """Turns per training step."""
    learning_rate: Positive = 3e-3
    """Initial learning rate of AdamW for the MLP; it decays to zero along half a
    cosine.
    """
    linear_learning_rate: Positive = 3e-2
    """Initial learning rate of AdamW for linear probes."""
    weight_decay: Annotated[float, Ge(0)] = 1e-3
    """Weight decay of AdamW."""


@dataclass(frozen=True, kw_only=True)
class DistanceConfig(ProbeConfig):
    """Decoding of the distance to the goal (Arghal et al. 2026, appendix F.3)."""

    variants: tuple[Variant, ...] = ("mlp", "linear")
    """Probe variants, each with its controls; the report's headline is the first.
    `linear` is ridge regression, with a penalty from leave-one-world-out
    cross-validation.
    """
    turns: Literal["all", "first"] = "all"
    """Decoded turns; `first` as published."""


@dataclass(frozen=True, kw_only=True)
class CogmapConfig(ProbeConfig):
    """Decoding of the map (Arghal et al. 2026, section 5.1)."""

    variants: tuple[MapVariant, ...] = ("places",)
    """Probe variants, each with its controls; the report's headline is the first.
    `places` reads row and column of each thing linearly, and of walls log odds for each
    cell. It is fitted in closed form, and as sure as it is right in left-out worlds. The
    others need more turns: with them, set `turns` to "all". `mlp` is the network of
    Arghal et al. (2026), and `linear` theirs, linear in activations and coordinates
    together. It cannot peak within a map, so it misses linear information about places.
    `bilinear` is linear in the activations for each row and each column, `cellwise` for
    each cell. `ridge` is linear for each cell too, but fitted in closed form. It finds
    linear information of any size; gradient descent finds large directions first.
    """
    turns: Literal["one", "all"] = "one"
    """Turns that the probe is fitted to and scored on: a random one of each world, or
    all. Maps are decoded in all held-out turns.
    """
    size: Annotated[int, Interval(ge=3, le=63)] = 15
    """Side of the decoded square in cells. Smaller grids are padded to it; for grids of
    one size, set that size.
    """
    cells: Count | None = 16
    """Cells of each turn per training step, drawn so that the loss stays unbiased; none
    for all.
    """
    penalties: Annotated[tuple[Positive, ...], MinLen(1), Several()] = PENALTIES
    """Candidate penalties of `ridge` on squared weights of z-scored activations,
    relative to squared errors summed over turns. Leave-one-world-out cross-validation
    chooses one. A class that is in one cell of every turn has its own penalty.
    """


@dataclass(frozen=True, kw_only=True)
class PlanConfig(ReadingConfig):
    """Decoding of future actions (Arghal et al. 2026, section 5.3)."""

    horizon: Annotated[int, Interval(ge=2, le=256)] = 10
    """Number of decoded actions; the end counts as one. Turns with more future actions
    are left out.
    """
    turns: Literal["all", "first"] = "all"
    """Decoded turns; `first` as published."""
    width: Annotated[int, Ge(8)] | None = None
    """Width of the decoder; none for the width of the model, at most 1,024."""
    depth: Count = 4
    """Layers of the decoder."""
    heads: Count = 8
    """Heads of the decoder's attention."""
    dropout: Annotated[float, Interval(ge=0, lt=1)] = 0.1
    """Dropout rate in training."""
    epochs: Count = 20
    """Passes over the training turns."""
    batch: Count = 32
    """Turns per training step."""
    learning_rate: Positive = 1e-3
    """Initial learning rate of AdamW; it decays to zero along half a cosine."""
    decay: PositiveShare = 0.95
    """Weight of an action in the loss, relative to the action before it."""


@dataclass(frozen=True, kw_only=True)
class CausesConfig:
    """Replay of a run's turns with changes to activations."""

    probe: str = "cogmap"
    """Name of a map probe of the run. Each of its layers is tested."""
    variant: Literal["bilinear", "cellwise", "ridge"] = "bilinear"
    """Linear variant of the probe whose weights give the directions."""
    position: Position = "pre"
    """Token position to intervene on."""
    places: Annotated[tuple[str, ...], MinLen(1), Several()] = (RESIDUAL,)
    """Places of each layer that patching replaces: `residual`, its output, `attention`
    and `mlp`, what the two blocks add, or `head:N`, one attention head. Steering and
    ablation are along a probe of the residual stream, and change it alone.
    """
    things: Annotated[tuple[str, ...], MinLen(1), Several()] = (
        "goal",
        "agent",
        "wall",
    )
    """Things that the counterfactuals change: goal, agent, wall, or others on the map by
    name, e.g. distractor, which are patched alone.
    """
    cases: Annotated[int, Ge(2)] = 24
    """Maximum number of replayed turns, one of each held-out world."""
    samples: Count = 1
    """Answers per turn and intervention."""
    doses: tuple[Positive, ...] = (0.5, 1.0, 2.0)
    """Strengths of steering. A dose of 1 swaps the probe's scores of the true and the
    counterfactual place on average, or adds the whole difference of means.
    """
    reasoning: str = r"A (?P<agent>\d+,\d+) G (?P<goal>\d+,\d+)"
    """Regular expression of the row and column that the reasoning writes for agent and
    goal, with groups of these names. The default is nano's form.
    """

    def __post_init__(self) -> None:
        check_pattern("causes", "reasoning", self.reasoning)
        for place in self.places:
            check_place(place)

    def check_model(self, model: "ModelInfo") -> None:
        """Refuse a model that lacks a place.

        Raises:
            GdeError: it does.
        """
        for place in self.places:
            model.width_at(place)


@dataclass(frozen=True, kw_only=True)
class DirectionConfig:
    """A causal test of a vector of the user's own, e.g. of a feature."""

    file: FilePath | None = None
    """A .npy or .safetensors file that holds one array: (width,) for all tokens of the
    position, or (tokens, width).
    """
    layer: Annotated[tuple[Index | Depth, ...], Several()] = ("middle",)
    """Decoder layers that are changed, as of the probes. Each is tested by itself."""
    place: str = RESIDUAL
    """Place of the layers: `residual`, the stream at their output, `attention` or `mlp`,
    what the two blocks add to it, or `head:N`, the attention head N, whose width the
    vector then has.
    """
    position: str = "pre"
    """Tokens at which it is changed."""
    changes: tuple[Literal["steering", "ablation", "patching"], ...] = (
        "steering",
        "ablation",
    )
    """Add the vector, remove what varies along it, or put it in the activations' place."""
    doses: tuple[Positive, ...] = (1.0,)
    """Multiples of the vector that steering adds."""
    action: str = ""
    """The action that the change is predicted to cause; empty for any other than the one
    taken.
    """
    weights: WeightsName = ""
    """As of the probes."""
    cases: Annotated[int, Ge(2)] = 24
    """Maximum number of replayed turns, one of each world."""
    samples: Count = 1
    """Answers per turn and change."""

    def __post_init__(self) -> None:
        file = self.file
        if file and (file.suffix not in VECTORS or not file.is_file()):
            raise ValueError(f"file: wanted a .npy or .safetensors file, got {file}")
        check_place(self.place)

    def check_model(self, model: "ModelInfo") -> None:
        """Refuse a model that lacks a layer or the place.

        Raises:
            GdeError: it does.
        """
        layers_of(self.layer, model)
        model.width_at(self.place)


VECTORS = (".npy", ".safetensors")
"""Suffixes of files of one array."""
STATEMENTS = (
    r"A (?P<agent>\d+,\d+) G (?P<goal>\d+,\d+)"
    r"(?: path (?P<path>\d+,\d+(?: \d+,\d+)*))?"
)
"""The form in which nano's reasoning states places and its path."""


@dataclass(frozen=True, kw_only=True)
class ErrorsConfig:
    """Attribution of actions that are not optimal."""

    reasoning: str = STATEMENTS
    """Regular expression of what the reasoning writes: a group for the row and column
    of each thing, by its name, and `path` for the cells of a plan, the agent's own
    first. The default is nano's form.
    """

    def __post_init__(self) -> None:
        check_pattern("errors", "reasoning", self.reasoning)


def check_events(patterns: Mapping[str, str]) -> None:
    """Check patterns of events.

    Raises:
        ValueError: no such event.
        GdeError: no regular expression.
    """
    for event, pattern in patterns.items():
        if event not in FORMS:
            known = ", ".join(FORMS)
            raise ValueError(f"events: only {known}, got {event!r}")
        check_pattern("events", event, pattern)


def check_pattern(part: str, field: str, pattern: str) -> None:
    """Check the regular expression of a part's field.

    Raises:
        GdeError: it is none.
    """
    try:
        re.compile(pattern)
    except re.error as error:
        raise GdeError(
            f"{part}.{field}: {pattern!r} is no regular expression: {error}"
        ) from error
