"""The validity suite: how often agents with known aims are called goal-directed."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import ceil

import numpy as np

from gde.data.json import Json, Labels
from gde.data.result import Measurement
from gde.errors import UnknownName
from gde.numerics.stats import cluster_share
from gde.parts.context import OutsideRun
from gde.parts.environment import Environment
from gde.parts.reproduction import Comparison
from gde.request.catalogue import Catalogue
from gde.request.settings import build
from gde.seeding import generator
from gde_plugins.meg.verdict.pursuits import (
    Options,
    Pursuits,
    Scored,
    Tabulated,
    pursuits_of,
)
from gde_plugins.meg.verdict.randomisation import LEVEL, Randomisation
from meg_studies.config import ValidityConfig
from meg_studies.suite import CALLED, Suite, share_called
from meg_studies.validity.agents import SEEKING, Policy, blind
from meg_studies.validity.senses import Memory, Sight

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


def validity_study(config: ValidityConfig) -> Suite:
    """Return the study of the share of runs in which each agent is called
    goal-directed.

    Raises:
        UnknownName: a kind of worlds that is none of `WORLDS`.
    """
    kinds = config.kinds or tuple(WORLDS)
    for kind in kinds:
        if kind not in WORLDS:
            raise UnknownName("kind of worlds in study.kinds", kind, WORLDS)

    def rows(scale: float) -> Iterator[Comparison]:
        samples = max(1, ceil(config.samples * scale))
        for kind in kinds:
            yield from _rows(kind, samples, config.worlds)

    return Suite(rows)


def _rows(kind: str, samples: int, n_worlds: int) -> Iterator[Comparison]:
    """Yield a row for every agent in a kind of worlds, and one for all blind agents."""
    found = [p_values_in(kind, sample, n_worlds) for sample in range(samples)]
    everyone: list[bool] = []
    for name in found[0]:
        hits = [each[name] <= LEVEL for each in found]
        title = "Power" if name in SEEKING else "False positives"
        if name not in SEEKING:
            everyone += hits
        where: Labels = {"world": kind, "agent": name}
        yield _row(f"{title}, {kind}", name, share_called(hits, where))

    # The agents of a run share its worlds, so runs are the clusters.
    n_agents = len(everyone) // samples
    runs = [*range(samples)] * n_agents
    rng = generator(samples, "meg-validity", kind)
    name = f"all {n_agents} goal-blind agents"
    where = {"world": kind, "agent": name}
    overall = cluster_share(everyone, runs, rng).measurement(CALLED, where)
    overall = replace(overall, unit="share")
    yield _row("False positives, all agents", kind, overall)


def p_values_in(kind: str, sample: int, n_worlds: int) -> Mapping[str, float]:
    """Return by agent the p value of its verdict in one run of a kind of worlds."""
    found = {}
    for name, episodes in played_in(kind, sample, n_worlds).items():
        rng = generator(sample, "meg-validity", kind, name, "draws")
        found[name] = Randomisation.of(episodes).p_value(rng, DRAWS)
    return found


def played_in(
    kind: str, sample: int, n_worlds: int, agents: Collection[str] = ()
) -> Mapping[str, list[tuple[str, Scored]]]:
    """Return by agent its scored episodes in one run of a kind of worlds, of all agents
    or of those named.
    """
    offer = Catalogue.default().find("environment", WORLDS[kind][0]).offer
    config = build(offer.config, WORLDS[kind][1], kind)

    def begin(seed: int) -> Environment:
        environment: Environment = offer.made(config, OutsideRun())
        environment.reset(seed)
        return environment

    played: dict[str, list[tuple[str, Scored]]] = {}
    # Seeds follow one another, so that no two runs share a world.
    first = sample * n_worlds
    for seed in range(first, first + n_worlds):
        with pursuits_of(partial(begin, seed)) as pursuits:
            if len(pursuits.chances) < 2:
                continue
            model = pursuits.worlds[0]
            mdp = model.mdp if isinstance(model, Tabulated) else None
            for name, policy in {**blind(mdp), **SEEKING}.items():
                if agents and name not in agents:
                    continue
                rng = generator(seed, "meg-validity", kind, name)
                episode = str(seed), walk(pursuits, policy, rng)
                played.setdefault(name, []).append(episode)
    return played


def walk(pursuits: Pursuits, policy: Policy, rng: np.random.Generator) -> Scored:
    """Play one episode of an agent."""
    # A world without another goal says nothing, whatever is done in it.
    if not pursuits.worlds:
        return pursuits.replayed([])
    # Perceived through the world with the first goal, whichever is present: the worlds
    # go the same way, and what is perceived must not depend on the goal.
    world = pursuits.worlds[0]
    mdp = world.mdp if isinstance(world, Tabulated) else None
    memory = Memory()

    def choose(options: Options, optimal: Sequence[Sequence[str]]) -> str:
        state = world.state
        after = np.array([world.after(each) for each in options])
        memory.visits[state] = memory.visits.get(state, 0) + 1
        is_optimal = np.array([[each in best for each in options] for best in optimal])
        sight = Sight(
            state=state,
            after=after,
            optimal=is_optimal,
            present=pursuits.present,
            chances=pursuits.chances,
            memory=memory,
            mdp=mdp,
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
