"""A plan whose every part is known and configured."""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any

from gde.data.how import How
from gde.data.json import Labels
from gde.data.plan import Choice, Plan
from gde.errors import GdeError
from gde.offers import Capability, ModelOffer
from gde.parts.context import Context
from gde.request.catalogue import Catalogue, Entry
from gde.request.kinds import KINDS, REPORTER
from gde.request.names import model_names, reward_names, weights_name
from gde.request.settings import paths

OF_WORLDS = frozenset(
    {
        Capability.MDP,
        Capability.DEMONSTRATION,
        Capability.GOALS,
        Capability.SNAPSHOT,
        Capability.SIMULATOR,
    }
)
"""Capabilities that only an environment itself can use, no record of it."""
OF_MODEL = frozenset({Capability.ACTIVATIONS, Capability.INTERVENTIONS})
"""Capabilities that an agent gives only if its language model does."""


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """One part of the plan with its typed configuration."""

    kind: str
    choice: Choice
    """As in the plan, with all fields on which results depend."""
    entry: Entry
    config: Any
    servers: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Addresses that stood behind names of models, by model."""
    absent: str = ""
    """Why it cannot, or must not, be made here; empty when it can."""

    @property
    def name(self) -> str:
        """Of the offer, as the plan has it."""
        return self.choice.name

    @property
    def label(self) -> str:
        """What the run calls it."""
        return self.choice.label

    def make(self, context: Context) -> Any:
        """A new part.

        Raises:
            GdeError: it cannot be made here.
        """
        if self.absent:
            raise GdeError(self.absent)
        return self.entry.offer.made(self.config, context)

    @property
    def whose(self) -> str:
        """The PART in `--set PART.FIELD`."""
        return setting_of(self.kind, self.label)

    @property
    def needs(self) -> Set[str]:
        """The capabilities that the part needs with this configuration."""
        offer = self.entry.offer
        return offer.needs | offer.needs_for(self.config)


@dataclass(frozen=True, kw_only=True)
class Condition:
    """One combination of the swept environment values."""

    labels: Labels
    environment: Chosen
    goal_moved: bool = False
    """Whether its worlds have another goal than their own."""


@dataclass(frozen=True, kw_only=True)
class Ready:
    """A plan whose every part is known.

    `check.check` says whether the parts fit together.
    """

    plan: Plan
    """With every configuration complete, defaults included."""
    how: How
    """Likewise."""
    catalogue: Catalogue
    conditions: tuple[Condition, ...]
    agent: Chosen
    models: Mapping[str, Chosen]
    """Every language model that a part names in its configuration, by that name."""
    judges: Mapping[str, Chosen]
    """Every reward model that a part names in its configuration, by that name."""
    probes: tuple[Chosen, ...]
    rewards: tuple[Chosen, ...]
    metrics: tuple[Chosen, ...]
    reporters: tuple[Chosen, ...]
    executor: Chosen
    is_trusted: bool = True
    """Whether the user trusts the plan: see `untrusted`."""

    @property
    def environment(self) -> Chosen:
        """The environment of the first condition; offer and name are those of all."""
        return self.conditions[0].environment

    @property
    def agent_model(self) -> str:
        """The language model that the agent's configuration names first, or empty."""
        return first_model(self.agent)

    def read_model(self, part: Chosen) -> str:
        """The language model whose activations a probe or metric reads."""
        return weights_name(part.config) or self.agent_model

    def given_by(self, name: str) -> Set[str]:
        """The capabilities that a language model gives; none without a name."""
        if not name:
            return frozenset()
        offer = self.models[name].entry.offer
        given = offer.gives & (OF_MODEL | {Capability.ANSWER_FORMS})
        if isinstance(offer, ModelOffer) and offer.captured:
            return given
        return given - (OF_MODEL - self.agent.entry.offer.gives)

    @property
    def parts(self) -> Iterator[Chosen]:
        """Every part, the language models after the agent."""
        yield from (self.environment, self.agent, *self.models.values(), self.executor)
        yield from (*self.probes, *self.rewards, *self.metrics, *self.reporters)
        for part in self.judges.values():
            if part not in self.rewards:
                yield part

    @property
    def gives(self) -> Set[str]:
        """The capabilities that the agent, its model and other parts give.

        The other parts are the environment and the reward models.
        """
        by_environment = self.environment.entry.offer.gives
        by_agent = self.agent.entry.offer.gives
        given = by_environment | (by_agent - OF_MODEL)
        for name in {self.agent_model, *map(self.read_model, self.probes)} - {""}:
            given |= self.given_by(name)
        given = implied(given)
        if self.rewards:
            given |= {Capability.REWARD_TRACE}
        return given


@dataclass(frozen=True, kw_only=True)
class Alone:
    """A part that is used outside of runs, with the models that it names."""

    part: Chosen
    catalogue: Catalogue
    how: How
    models: Mapping[str, Chosen]
    judges: Mapping[str, Chosen]


def setting_of(kind: str, label: str) -> str:
    """The PART in `--set PART.FIELD`: a label, or the table of a single kind."""
    described = KINDS[kind]
    return label if described.several else described.table


def first_model(agent: Chosen) -> str:
    """The language model that the agent's configuration names first, or empty."""
    return next(iter(model_names(agent.config).values()), "")


def implied(given: Set[str]) -> Set[str]:
    """The capabilities with those that follow from them."""
    if Capability.MDP in given:
        given |= {Capability.OPTIMUM}
    if Capability.OPTIMUM in given:
        given |= {Capability.TRUE_REWARD}
    return given


def reads_turns_alone(part: Chosen) -> bool:
    """Whether a part is a metric that needs nothing but what the turns recorded, or a
    report, which the plan does not name.
    """
    if part.kind != "metric":
        return part.kind == REPORTER.name
    named = (*model_names(part.config), *reward_names(part.config))
    return not named and not paths(part.config) and not part.needs & OF_WORLDS


def untrusted(ready: Ready) -> Ready:
    """A plan of a run that the user does not trust: no part is made, of it or beyond it,
    but metrics that read turns alone and reports.
    """
    conditions = [
        replace(one, environment=unmade(one.environment)) for one in ready.conditions
    ]
    return replace(
        ready,
        conditions=tuple(conditions),
        agent=unmade(ready.agent),
        models={name: unmade(each) for name, each in ready.models.items()},
        judges={name: unmade(each) for name, each in ready.judges.items()},
        probes=tuple(map(unmade, ready.probes)),
        rewards=tuple(map(unmade, ready.rewards)),
        metrics=tuple(map(unmade, ready.metrics)),
        executor=unmade(ready.executor),
        is_trusted=False,
    )


def unmade(part: Chosen) -> Chosen:
    """A part that an untrusted plan names or asks for: as it is, if it reads turns alone."""
    if part.absent or reads_turns_alone(part):
        return part
    advice = "look at it and trust it with `gde trust RUN`"
    reason = f"{part.label} needs parts of a run that you do not trust: {advice}"
    return replace(part, absent=reason)
