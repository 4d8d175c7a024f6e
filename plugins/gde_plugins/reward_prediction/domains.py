"""The five published domains, and the environments that they are made from here.

Environments are looked up by name in the catalogue; a domain without an installed
environment is left out.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, Protocol

from gde.data.json import Json
from gde.errors import GdeError, UnknownName
from gde.offers import AnyOffer, Capability
from gde.parts.context import OutsideRun
from gde.parts.environment import Environment, HasDemonstration
from gde.request.catalogue import Catalogue
from gde.request.settings import build, dump

Settings = Mapping[str, Json]
PATIENCE: Settings = {"begin_seconds": 7200.0, "step_seconds": 600.0}
"""Deadlines of simulators, generous so that the load of the machine does not decide
which worlds are replaced: a long gold path of ScienceWorld takes minutes to be put into
words.
"""
Failure = Literal["near-miss", "undone", "noisy", "scored"]
"""Kinds of failures, see `failures`."""
HARD: tuple[Failure, ...] = ("near-miss", "undone", "noisy")
TASK_TYPES = (
    "pick_and_place_simple",
    "look_at_obj_in_light",
    "pick_clean_then_place_in_recep",
    "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "pick_two_obj_and_place",
)


@dataclass(frozen=True, kw_only=True)
class Domain:
    """One domain of the benchmark."""

    name: str
    """Of its environment, too."""
    title: str
    pairs: int
    """Published number of tasks, each with a success and a failure (Shen et al. 2026,
    appendix A.4).
    """
    steps: float = 0.0
    """Mean steps of a trajectory as it is made here by default."""
    characters: int = 0
    """Mean characters of a step's action and observation, likewise."""
    settings: Settings = field(default_factory=dict)
    """Of the environment, for all tasks."""
    variants: tuple[Settings, ...] = ({},)
    """Further settings, which tasks use in turns."""
    instead: frozenset[str] = frozenset()
    """Settings of the user's that replace the variants."""
    measured: bool = False
    """Whether its demonstration tells from everywhere how far the goal is."""
    hard: tuple[Failure, ...] = HARD
    """The failures of its hard pairs."""

    @property
    def plays_on(self) -> bool:
        """Whether its world goes on after a success."""
        return bool(self.settings.get("play_on"))

    def tasks(self, share: float = 1.0) -> int:
        """The number of tasks in a share of all, at least one."""
        return math.ceil(round(self.pairs * share, 6))

    def variant(self, index: int, asked: Settings) -> Settings:
        """Settings of the environment of one task, with the user's own."""
        variant = self.variants[index % len(self.variants)]
        if self.instead & asked.keys():
            variant = {}
        return {**self.settings, **variant, **asked}


DOMAINS: Mapping[str, Domain] = {
    each.name: each
    for each in (
        Domain(
            name="alfworld",
            title="AlfWorld",
            pairs=336,
            steps=8.8,
            characters=111,
            settings={"split": "made", "play_on": True, **PATIENCE},
            variants=tuple({"task_type": each} for each in TASK_TYPES),
            measured=True,
        ),
        Domain(
            name="scienceworld",
            title="ScienceWorld",
            pairs=191,
            steps=54.1,
            characters=126,
            settings={"play_on": True, **PATIENCE},
            # A demonstration off the gold path takes minutes.
            hard=("scored",),
        ),
        Domain(
            name="webshop",
            title="WebShop",
            pairs=300,
            steps=6.7,
            characters=476,
            # The score comes with the purchase, which nothing undoes.
            hard=("near-miss", "noisy"),
        ),
        Domain(
            name="blocksworld",
            title="BlocksWorld",
            pairs=250,
            steps=8.9,
            characters=170,
            settings={"play_on": True},
            # As in the published problems, of which one in nine has five blocks.
            variants=({"blocks": 5}, *({"blocks": 4},) * 8),
            instead=frozenset({"problems", "blocks"}),
            measured=True,
        ),
        Domain(
            name="textworld",
            title="TextWorld",
            pairs=150,
            steps=8.6,
            characters=173,
            settings=PATIENCE,
            variants=({"game": "cooking"}, {"game": "treasure-hunt"}),
            instead=frozenset({"game"}),
            measured=True,
        ),
    )
}


def find_domain(name: str) -> Domain:
    """A domain by its name.

    Raises:
        UnknownName: there is no such domain.
    """
    if name not in DOMAINS:
        raise UnknownName("domain", name, DOMAINS)
    return DOMAINS[name]


@lru_cache(maxsize=1)
def _catalogue() -> Catalogue:
    return Catalogue.default()


def offer_of(domain: Domain) -> AnyOffer:
    """The offer of a domain's environment.

    Raises:
        GdeError: there is none, its packages are not installed, or it has no
            demonstrations.
    """
    try:
        offer = _catalogue().find("environment", domain.name).offer
    except UnknownName as error:
        raise GdeError(
            f"domain {domain.name}: no environment of that name is installed"
        ) from error
    if missing := offer.missing():
        extra = f": pip install 'gde-eval[{offer.extra}]'" if offer.extra else ""
        raise GdeError(
            f"domain {domain.name}: {', '.join(missing)} not installed{extra}"
        )
    if Capability.DEMONSTRATION not in offer.gives:
        raise GdeError(
            f"domain {domain.name}: wanted an environment with the capability {Capability.DEMONSTRATION}"
        )
    return offer


def checked(domain: Domain, asked: Settings) -> Settings:
    """The user's settings of a domain's environment, each with its type.

    Raises:
        ConfigError: it has no such setting, or not with that value.
        GdeError: the environment is not available.
    """
    config = offer_of(domain).config
    variants = [
        build(config, domain.variant(i, asked), domain.name)
        for i in range(len(domain.variants))
    ]
    typed = dump(variants[0])
    return {name: typed[name] for name in sorted(asked)}


class Demonstrating(Environment, HasDemonstration, Protocol):
    """The environment of a domain."""


def opened(domain: Domain, settings: Settings, context: OutsideRun) -> Demonstrating:
    """Open the environment of a domain with these settings.

    Raises:
        GdeError: it is not available, or has no such settings.
    """
    offer = offer_of(domain)
    config = build(offer.config, settings, domain.name)
    try:
        environment: Demonstrating = offer.made(config, context)
    except Exception as error:  # a simulator may fail in any way
        raise GdeError(f"domain {domain.name}: {error}") from error
    return environment
