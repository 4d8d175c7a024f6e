"""An offer: a named part, its typed configuration, how to make it, and what its numbers mean."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.util import find_spec
from shutil import which
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

    from gde.data.measure import Measure
    from gde.parts.context import Context

ConfigT = TypeVar("ConfigT")
PartT = TypeVar("PartT")


class Facet(StrEnum):
    """What a part can give to, or needs from, the others of a run. A plugin may name others, as plain text."""

    STATE = "state"
    """The true state of every turn."""
    MDP = "mdp"
    """The environment as a Markov decision process; its solution gives OPTIMUM too."""
    OPTIMUM = "optimum"
    """The certified optimal actions of every turn, by whatever means."""
    DEMONSTRATION = "demonstration"
    """Actions that reach the goal, by whatever means they are known."""
    SNAPSHOT = "snapshot"
    """An environment that can be put back to an earlier moment."""
    SIMULATOR = "simulator"
    """An environment that a second one can stand in for, to try actions in: it can be given other dice."""
    WORLDS = "worlds"
    """A list of worlds, for some configurations at least."""
    MAP = "map"
    """World and state facts that `gde.data.cell_map` reads as a map of named kinds of cells."""
    VIEW = "view"
    """A world or state fact `view`, the text that a state is drawn as (`gde.data.view`). A MAP is drawn without it."""
    ACTIVATIONS = "activations"
    """Replayable token ids of a white-box language model."""
    ACTION_PROBS = "action_probs"
    """An agent, or its language model, that tells how probable each of its answers is, instead of giving one."""
    INTERVENTIONS = "interventions"
    """A language model whose residual stream can be changed by a request."""
    REWARD_TRACE = "reward_trace"
    """Predicted rewards."""
    TRUE_REWARD = "true_reward"
    """The true reward of every turn, which reward models are held against: the fact `reward` of each state, a number.
    OPTIMUM gives it too, as progress along the certified value."""


@dataclass(frozen=True)
class Readable:
    """Says of a field of a configuration that a function can read its text; it raises `ValueError` with what was wanted
    otherwise.

    A sweep is told from one value by what a field takes, so the texts of two values with a comma between them must not
    be readable as one.
    """

    read: Callable[[str], object]

    def __get_pydantic_core_schema__(self, source: Any, handler: "GetCoreSchemaHandler") -> "CoreSchema":
        # Imported late: modules of configurations are read by every command.
        from pydantic_core.core_schema import no_info_after_validator_function

        def check(text: str) -> str:
            self.read(text)
            return text

        return no_info_after_validator_function(check, handler(source))


@dataclass(frozen=True)
class NoConfig:
    """The configuration of a part that has nothing to configure."""


@dataclass(frozen=True)
class ModelReference:
    """Marks a field of a configuration that names a language model."""

    any_question: bool = False
    """Whether the part asks it questions of its own, which a model that was made for one task cannot answer."""


def _one_model(text: str) -> None:
    if "," in text:
        raise ValueError("wanted one language model, whose name has no comma")


ModelName = Annotated[str, ModelReference(), Readable(_one_model)]
"""A language model as NAME or NAME:ARGUMENT, without a comma; what `Context.model` makes of it."""
GeneralModelName = Annotated[str, ModelReference(any_question=True), Readable(_one_model)]
"""The same; a model whose offer says that it was made for one `task` is refused."""


@dataclass(frozen=True)
class RewardReference:
    """Marks a field of a configuration that names a reward model."""


RewardName = Annotated[str, RewardReference()]
"""A reward model of the run by what the run calls it, else one that is offered; what `Context.reward_model` makes of
it."""


def _nothing(_: object) -> frozenset[str]:
    return frozenset()


@dataclass(frozen=True, kw_only=True)
class Offer(Generic[ConfigT, PartT]):
    """One entry of a plugin's list."""

    name: str
    summary: str
    """One line, shown by `gde list`."""
    config: type[ConfigT]
    """A frozen dataclass; a docstring under each field is its help text. A field of type `ModelName` names a language
    model."""
    make: "Callable[[ConfigT, Context], PartT]"
    """Builds the part; heavy imports happen inside."""
    version: int = 1
    """Bumped whenever the same configuration gives other results."""
    gives: frozenset[str] = frozenset()
    """Facets, by name."""
    needs: frozenset[str] = frozenset()
    needs_for: Callable[[ConfigT], frozenset[str]] = _nothing
    """Facets that are needed for a configuration beyond `needs`, e.g. of one of several ways to do the work."""
    imports: tuple[str, ...] = ()
    """Modules that `make` imports beyond the core's dependencies; of a long import also the part that takes long, e.g.
    "transformers.generation.utils": several workers share it."""
    extra: str = ""
    """The extra of the distribution that installs `imports`."""
    task: str = ""
    """Of a language model: the one task that it was made for, in words, e.g. "walking in text grids". Empty for one
    that may be asked anything."""
    programs: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Programs that the part starts, to be found on the PATH, and how each is installed where it is not there, e.g.
    {"java": "apt install openjdk-17-jre-headless"}."""
    at_hand: Callable[[], Sequence[str]] | None = None
    """What the part would find on this machine without a download, a line a thing: weights, data. `gde doctor` asks."""
    at_once: int | None = None
    """How many of an environment a run has at most, where each is a process of its own; none for `run.concurrency`."""
    blocking: bool = False
    """Of an environment: its calls wait, e.g. for a simulator process, so each environment gets a thread of its own."""
    batches: bool = False
    """Of a language model: it computes in the process, and hardly more for many answers at once than for one. A worker
    then gets all the episodes that it can have under way before another gets any."""
    measures: "tuple[Measure, ...]" = ()
    """What the part's numbers mean."""
    group: str = ""
    """A name under which several offers of a kind can be asked for at once, e.g. `--metric meg`."""
    default: bool = False
    """Whether a run that asks for nothing of this kind gets it, when it uses a part of the same distribution. A run
    names its agent; a default one is whom another tool's model is asked through where it names none."""

    def missing(self) -> tuple[str, ...]:
        """Packages of `imports` that are not installed; nothing is imported to find out."""
        packages = dict.fromkeys(module.partition(".")[0] for module in self.imports)
        return tuple(package for package in packages if find_spec(package) is None)

    def missing_programs(self) -> tuple[str, ...]:
        """Those of `programs` that are not on the PATH."""
        return tuple(program for program in self.programs if which(program) is None)


AnyOffer = Offer[Any, Any]
