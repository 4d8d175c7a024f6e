"""An offer: a named part, its configuration, its maker and its measures."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from pkgutil import resolve_name
from shutil import which
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, TypeVar

from gde.errors import GdeError

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

    from gde.data.footprint import Footprint
    from gde.data.measure import Measure
    from gde.parts.context import Context

ConfigT = TypeVar("ConfigT")
PartT = TypeVar("PartT")


class Capability(StrEnum):
    """A feature that a part gives to, or needs from, other parts of a run.

    A plugin may name others, as plain text.
    """

    STATE = "state"
    """The true state of every turn."""
    MDP = "mdp"
    """The environment as a Markov decision process; its solution gives OPTIMUM too."""
    OPTIMUM = "optimum"
    """The certified optimal actions of every turn, from a solver, a planner or an
    expert.
    """
    DEMONSTRATION = "demonstration"
    """Actions that reach the goal."""
    GOALS = "goals"
    """An environment that draws its goal again, given all else: counterfactual goals."""
    SNAPSHOT = "snapshot"
    """An environment that can be put back to an earlier moment."""
    SIMULATOR = "simulator"
    """An environment of which a private copy, with other dice, serves to try actions
    in.
    """
    WORLDS = "worlds"
    """A list of worlds, for some configurations at least."""
    REMARKS = "remarks"
    """Sentences on the worlds for the readers of a result."""
    MAP = "map"
    """World and state facts that `gde.data.cell_map` reads as a map of named kinds of
    cells.
    """
    VIEW = "view"
    """A world or state fact `view`, the text that a state is drawn as
    (`gde.data.view`). A MAP is drawn without it.
    """
    ACTIVATIONS = "activations"
    """Replayable token ids of a white-box language model."""
    ACTION_PROBS = "action_probs"
    """An agent, or its language model, that tells how probable each of its answers is,
    instead of giving one.
    """
    INTERVENTIONS = "interventions"
    """A language model whose residual stream can be changed by a request."""
    ANSWER_FORMS = "answer_forms"
    """A language model that keeps answers to the form that a request names."""
    REWARD_TRACE = "reward_trace"
    """Predicted rewards."""
    BASELINE = "baseline"
    """A reward model that reads no observation. Leaderboards set the others beside the
    best of them.
    """
    SHOWN_SUCCESS = "shown_success"
    """The fact `demonstration` of a world, one way to its goal, where the plan asks for it.
    Only a reward model that needs it is shown it.
    """
    TRUE_REWARD = "true_reward"
    """The true reward of every turn, to compare reward models with: the fact `reward`
    of each state, a number. OPTIMUM gives it too, as progress along the certified
    value.
    """


@dataclass(frozen=True)
class Readable:
    """Marks a text field of a configuration that a function must be able to read.

    The function raises `ValueError` and says what it wants. It also tells a single
    value from a sweep: the texts of two values with a comma between them must not be
    readable as one.
    """

    read: Callable[[str], object]

    def __get_pydantic_core_schema__(
        self, source: Any, handler: "GetCoreSchemaHandler"
    ) -> "CoreSchema":
        # Imported late: every command reads modules of configurations.
        from pydantic_core.core_schema import no_info_after_validator_function

        def check(text: str) -> str:
            self.read(text)
            return text

        return no_info_after_validator_function(check, handler(source))


class _Absolute:
    """Makes a path absolute, so that a plan means the same file everywhere."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: "GetCoreSchemaHandler"
    ) -> "CoreSchema":
        from pydantic_core.core_schema import no_info_after_validator_function

        def check(path: Path) -> Path:
            if path == Path():
                raise ValueError("the path of a file or folder")
            # Two paths with a comma in between are a sweep.
            if "," in str(path) and not path.exists():
                raise ValueError("one path, which has no comma")
            try:
                return path.expanduser().absolute()
            except RuntimeError as error:
                raise ValueError(f"a path of this machine ({error})") from error

        return no_info_after_validator_function(check, handler(source))


FilePath = Annotated[Path, _Absolute()]
"""A file or folder that a part reads. `gde trust` lists those of a run from elsewhere."""


@dataclass(frozen=True)
class NoConfig:
    """The configuration of a part that has nothing to configure."""


@dataclass(frozen=True)
class ModelReference:
    """Marks a field of a configuration that names a language model."""

    any_question: bool = False
    """Whether the part asks it questions of its own, which a model that was made for
    one task cannot answer.
    """
    weights: bool = False
    """Whether the model is not asked but replays the agent's turns."""


def _one_model(text: str) -> None:
    if "," in text:
        raise ValueError("wanted one language model, whose name has no comma")


ModelName = Annotated[str, ModelReference(), Readable(_one_model)]
"""A language model as NAME or NAME:ARGUMENT, without a comma. `Context.model` makes
it.
"""
GeneralModelName = Annotated[
    str, ModelReference(any_question=True), Readable(_one_model)
]
"""The same; a model whose offer says that it was made for one `task` is refused."""
WeightsName = Annotated[str, ModelReference(weights=True), Readable(_one_model)]
"""In a probe's configuration: the model that replays the agent's turns for their
activations; empty for the agent's own. It has the weights of the agent's model, which a
server may hold.
"""


@dataclass(frozen=True)
class RewardReference:
    """Marks a field of a configuration that names a reward model."""


RewardName = Annotated[str, RewardReference()]
"""A reward model: one of the run by its label, else one that is offered.
`Context.reward_model` makes it.
"""


def _nothing(_: object) -> Set[str]:
    return frozenset()


@dataclass(frozen=True, kw_only=True)
class Offer(Generic[ConfigT, PartT]):
    """A part that a plugin offers.

    Environments, language models, probes and metrics have offers of their own below,
    with what only they can say.
    """

    name: str
    summary: str
    """One line, shown by `gde list`."""
    config: type[ConfigT]
    """A frozen dataclass; a docstring under each field is its help text. A field of
    type `ModelName` names a language model.
    """
    make: "str | Callable[[ConfigT, Context], PartT]" = ""
    """Makes the part: a callable, or the path of one, "package.module:Name", which is
    imported when the part is made. What a path names is given the configuration and the
    context if it has parameters `config` and `context`.
    """
    part: str = ""
    """Instead of `make`: the path of the part itself, e.g. of a function that is a
    metric.
    """
    version: int = 1
    """Bumped whenever the same configuration gives other results."""
    gives: Set[str] = field(default=frozenset(), hash=False)
    """Capabilities, by name."""
    needs: Set[str] = field(default=frozenset(), hash=False)
    """Capabilities, by name."""
    needs_for: Callable[[ConfigT], Set[str]] = _nothing
    """Capabilities that a configuration needs beyond `needs`, e.g. for one of several
    ways to do the work.
    """
    imports: tuple[str, ...] = ()
    """Modules that the part imports beyond the core's dependencies."""
    extra: str = ""
    """The extra of the distribution that installs `imports`."""
    programs: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Programs that the part starts from the PATH, each with how to install it, e.g.
    {"java": "apt install openjdk-17-jre-headless"}.
    """
    default: bool = False
    """Whether a run that asks for nothing of this kind gets the part, when it uses
    another of the same distribution. An agent is always named by the run; an imported
    log of another tool belongs to the default one.
    """

    def made(self, config: ConfigT, context: "Context") -> PartT:
        """A new part.

        Raises:
            GdeError: the path of the offer cannot be imported.
        """
        if self.part:
            part: PartT = self._imported(self.part)
            return part
        if not isinstance(self.make, str):
            return self.make(config, context)
        maker = self._imported(self.make)
        given = {"config": config, "context": context}
        made: PartT = maker(**{name: given[name] for name in self._taken})
        return made

    @cached_property
    def _taken(self) -> frozenset[str]:
        """What the maker at `make` takes. Every episode has an agent of its own, and
        `signature` takes a tenth of a short episode.
        """
        assert isinstance(self.make, str)
        parameters = signature(self._imported(self.make)).parameters
        return frozenset({"config", "context"}).intersection(parameters)

    def _imported(self, path: str) -> Any:
        try:
            return resolve_name(path)
        except (ImportError, AttributeError, ValueError) as error:
            raise GdeError(
                f"{self.name}: cannot import {path!r} ({error}): "
                "correct the path in its offer, or install what is missing"
            ) from error

    def missing(self) -> tuple[str, ...]:
        """Packages of `imports` that are not installed; nothing is imported."""
        packages = dict.fromkeys(module.partition(".")[0] for module in self.imports)
        return tuple(package for package in packages if find_spec(package) is None)

    def missing_programs(self) -> tuple[str, ...]:
        """Those of `programs` that are not on the PATH."""
        return tuple(program for program in self.programs if which(program) is None)


@dataclass(frozen=True, kw_only=True)
class EnvironmentOffer(Offer[ConfigT, PartT]):
    """An environment that a plugin offers."""

    at_once: int | None = None
    """The most environments that a run has at once, where each is a process of its own;
    None for `run.concurrency`.
    """
    blocking: bool = False
    """Whether a step computes or waits in place for long, as a simulator in another
    process does.
    """
    local_weights: Callable[[], Sequence[str]] | None = None
    """What the environment finds on this machine without a download, e.g. games, one
    line each. `gde doctor` asks.
    """


@dataclass(frozen=True, kw_only=True)
class ModelOffer(Offer[ConfigT, PartT]):
    """A language model that a plugin offers."""

    task: str = ""
    """The one task that the model was made for, in words, e.g. "walking in text grids";
    empty for a general model.
    """
    served: bool = False
    """Whether it answers elsewhere, as a `gde.parts.language_model.Served`. It is asked
    one question before a run.
    """
    batches: bool = False
    """Whether it computes in the process, many answers at once in little more time than
    one. Then a worker is filled with episodes before the next worker gets any.
    """
    captured: bool = False
    """Whether it stands for activations that were captured outside of gde. Neither it nor
    the agent is asked for them.
    """
    local_weights: Callable[[], Sequence[str]] | None = None
    """Weights that the model finds on this machine without a download, one line each.
    `gde doctor` asks.
    """
    footprint: "Callable[[ConfigT], Footprint | None] | None" = None
    """Gives what a model that computes in the process takes, without loading it; None
    where its files are not on this machine. `--dry-run` asks.
    """


@dataclass(frozen=True, kw_only=True)
class ProbeOffer(Offer[ConfigT, PartT]):
    """A probe that a plugin offers."""

    measures: "tuple[Measure, ...]" = ()
    """What the probe's numbers mean."""


@dataclass(frozen=True, kw_only=True)
class MetricOffer(Offer[ConfigT, PartT]):
    """A metric that a plugin offers."""

    measures: "tuple[Measure, ...]" = ()
    """What the metric's numbers mean."""
    facts: Literal["", "turns", "world"] = ""
    """Of a `gde.numerics.episode_metric.EpisodeMetric`: whether its facts follow from the
    turns of an episode alone, or also from the decision process of its world. Whoever
    plays an episode then tells them as it ends; else they are asked for when the run is
    concluded.
    """
    group: str = ""
    """A name by which a run asks for several metrics at once, e.g. `--metric meg`."""


AnyOffer = Offer[Any, Any]
