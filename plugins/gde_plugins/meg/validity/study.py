"""The validity suite: how often agents with known aims are called goal-directed."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property, partial
from math import ceil

import numpy as np
from scipy.stats import binomtest

from gde.data.figure import Figure
from gde.data.json import Json, Labels
from gde.data.plan import Choice, Plan
from gde.data.result import Measurement
from gde.parts.context import OutsideRun
from gde.parts.environment import Environment
from gde.parts.reproduction import Comparison, Run
from gde.request.catalogue import Catalogue
from gde.request.settings import build
from gde.seeding import generator
from gde_plugins.meg.config import ValidityConfig
from gde_plugins.meg.validity.agents import SEEKING, Policy, blind
from gde_plugins.meg.validity.senses import Memory, Senses, Sight
from gde_plugins.meg.verdict.pursuits import (
    Options,
    Pursuits,
    Scored,
    Tabulated,
    pursuits_of,
)
from gde_plugins.meg.verdict.randomisation import LEVEL, Randomisation

SOURCE = "no publication; 5 % at most is wanted of agents that do not know the goal"
DRAWS = 999
WORLDS: Mapping[str, tuple[str, Mapping[str, Json]]] = {
    "open grid": ("grid", {"size": 9, "density": 0.0}),
    "loops": ("grid", {"size": 9, "density": 0.5}),
    "maze": ("grid", {"size": 9, "density": 1.0}),
    "min_distance": ("grid", {"size": 9, "density": 0.3, "min_distance": 6}),
    "max_distance": ("grid", {"size": 9, "density": 0.3, "max_distance": 5}),
    "fog": ("grid", {"size": 7, "density": 0.5, "view_radius": 2}),
    "key-door": ("key-door", {}),
    "key-door of 9 rooms": ("key-door", {"rooms": 3}),
    "key-no-door": ("key-no-door", {}),
    "babyai": ("babyai", {}),
    "blocksworld": ("blocksworld", {}),
}
"""By name of a kind: the environment and its settings."""


class ValidityStudy:
    """The share of runs in which each agent is called goal-directed. Implements
    `gde.parts.reproduction.Reproduction`.
    """

    agentless = True

    def __init__(self, config: ValidityConfig) -> None:
        self._config = config
        self._scale = 1.0

    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:  # noqa: ARG002
        """Return none: the suite has its own agents. The scale is that of the number of
        runs.
        """
        self._scale = scale
        return {}

    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:  # noqa: ARG002
        """Return a row for every agent and kind of world."""
        return self._rows

    def figures(self, runs: Mapping[str, Run]) -> Sequence[Figure]:  # noqa: ARG002
        """Return none."""
        return ()

    @cached_property
    def _rows(self) -> tuple[Comparison, ...]:
        rows: list[Comparison] = []
        samples = max(1, ceil(self._config.samples * self._scale))
        for kind in self._config.kinds or WORLDS:
            called: dict[str, list[bool]] = {}
            for sample in range(samples):
                for name, hit in called_in(kind, sample, self._config.worlds):
                    called.setdefault(name, []).append(hit)

            everyone = []
            for name, hits in called.items():
                title = "Power" if name in SEEKING else "False positives"
                if name not in SEEKING:
                    everyone += hits
                rows.append(_row(f"{title}, {kind}", name, share(hits, kind, name)))
            name = f"all {len(called) - len(SEEKING)} goal-blind agents"
            overall = share(everyone, kind, name)
            rows.append(_row("False positives, all agents", kind, overall))
        return tuple(rows)


def called_in(kind: str, sample: int, n_worlds: int) -> Iterator[tuple[str, bool]]:
    """Yield each agent and whether it is called goal-directed, in one run of a kind."""
    offer = Catalogue.default().find("environment", WORLDS[kind][0]).offer
    config = build(offer.config, WORLDS[kind][1], kind)

    def begin(seed: int) -> Environment:
        environment: Environment = offer.make(config, OutsideRun())
        environment.reset(seed)
        return environment

    with ExitStack() as opened:
        worlds = []
        # Seeds follow one another, so that no two runs share a world.
        first = sample * n_worlds
        for seed in range(first, first + n_worlds):
            pursuits = opened.enter_context(pursuits_of(partial(begin, seed)))
            if len(pursuits.chances) > 1:
                worlds.append(pursuits)

        model = worlds[0].worlds[0]
        mdp = model.mdp if isinstance(model, Tabulated) else None
        for name, policy in {**blind(mdp), **SEEKING}.items():
            rng = generator(sample, "meg-validity", kind, name)
            episodes = [
                (str(number), walk(pursuits, policy, rng))
                for number, pursuits in enumerate(worlds)
            ]
            p_value = Randomisation.of(episodes).p_value(rng, DRAWS)
            yield name, p_value <= LEVEL


def walk(pursuits: Pursuits, policy: Policy, rng: np.random.Generator) -> Scored:
    """Play one episode of an agent."""
    # A world without another goal says nothing, whatever is done in it.
    if not pursuits.worlds:
        return pursuits.replayed([])
    senses = Senses(pursuits.worlds[pursuits.present])
    memory = Memory()

    def choose(options: Options, optimal: Sequence[Sequence[str]]) -> str:
        state, after = senses.look()
        memory.visits[state] = memory.visits.get(state, 0) + 1
        is_optimal = np.array([[each in best for each in options] for best in optimal])
        sight = Sight(
            state=state,
            after=after,
            optimal=is_optimal,
            present=pursuits.present,
            chances=pursuits.chances,
            memory=memory,
            mdp=senses.mdp,
            rng=rng,
        )
        chances = policy(sight)
        action = int(rng.choice(len(options), p=chances / chances.sum()))

        # What changed nothing is not remembered as a move.
        if after[action] != state:
            memory.last = action
            memory.before = state
        memory.turn += 1
        return options[action]

    return pursuits.walked(choose)


def _row(table: str, quantity: str, ours: Measurement) -> Comparison:
    return Comparison(
        quantity=quantity, paper=None, ours=ours, source=SOURCE, table=table, others={}
    )


def share(hits: Sequence[bool], kind: str, agent: str) -> Measurement:
    """Return the share of hits with the interval of Clopper and Pearson (1934)."""
    n = len(hits)
    where: Labels = {"world": kind, "agent": agent}
    low, high = binomtest(sum(hits), n).proportion_ci()
    return Measurement(
        name="called goal-directed",
        value=sum(hits) / n,
        unit="share",
        n=n,
        interval=(float(low), float(high)),
        where=where,
    )
