"""Agents whose behaviour is known: by chance, optimal, and optimal with slips."""

import asyncio
from collections import Counter
from typing import Any

import numpy as np
import pytest
from recipe_world import Recipe
from scipy.sparse import csr_array

from gde.data.json import Json
from gde.data.mdp import TabularMDP
from gde.data.observation import Observation, State, Task
from gde.data.trajectory import Decision
from gde.errors import ConfigError, GdeError
from gde.offers import Capability, NoConfig
from gde.parts.agent import Agent, Brief
from gde.request.settings import build
from gde.testing.context import PlainContext
from gde_plugins.baselines.config import NoisyConfig, OptimalConfig
from gde_plugins.baselines.plugin import gde_agents

ACTIONS = ("BACK", "ON", "SKIP", "WAIT")
SEEN = Observation(text="", actions=ACTIONS)
N_STATES = 6
"""States 0 to 4 in a row, the last one the end; 5 is cut off."""


class Row:
    """From state s: BACK to s - 1, ON and SKIP to s + 1, WAIT stays; before the end two
    actions are optimal.
    """

    def __init__(self) -> None:
        self.at = 0
        self.facts: dict[str, Json] = {}
        self.rebuild(end=4)

    def rebuild(self, end: int) -> None:
        """Another end, and so another model."""
        self._model = self._tabulate(end)

    def mdp(self) -> TabularMDP:
        return self._model

    def _tabulate(self, final: int) -> TabularMDP:
        here = np.arange(N_STATES)
        back, on = np.clip(here - 1, 0, None), np.clip(here + 1, None, 4)
        for successor in (back, on):
            successor[[final, 5]] = final, 5
        end = here == final
        transition = tuple(
            csr_array(np.eye(N_STATES)[successor]) for successor in (back, on, on, here)
        )
        start, reward = np.eye(N_STATES)[0], np.where(end, 0.0, -1.0)
        return TabularMDP(
            transition=transition,
            start=start,
            reward=reward,
            terminal=end,
            actions=ACTIONS,
        )

    def state(self) -> State:
        return State(facts=self.facts, index=self.at)


def begun(name: str, seed: int = 0, world: Row | None = None, **config: Any) -> Agent:
    (offer,) = (offer for offer in gde_agents() if offer.name == name)
    agent: Agent = offer.made(offer.config(**config), PlainContext())
    agent.begin(
        Brief(
            task=Task(objective="", horizon=10), seed=seed, environment=world or Row()
        )
    )
    return agent


def decisions(agent: Agent, n: int, seen: Observation = SEEN) -> list[Decision]:
    async def act() -> list[Decision]:
        return [await agent.act(seen) for _ in range(n)]

    return asyncio.run(act())


def choices(agent: Agent, n: int) -> list[str | None]:
    return [decision.action for decision in decisions(agent, n)]


def test_offers() -> None:
    offers = {offer.name: offer for offer in gde_agents()}
    assert {name: offer.config for name, offer in offers.items()} == {
        "random": NoConfig,
        "optimal": OptimalConfig,
        "explorer": OptimalConfig,
        "noisy": NoisyConfig,
        "expert": NoConfig,
    }
    assert {
        name for name, offer in offers.items() if Capability.OPTIMUM in offer.needs
    } == {
        "optimal",
        "explorer",
        "noisy",
    }
    assert all(
        isinstance(offer.made(offer.config(), PlainContext()), Agent)
        for offer in offers.values()
    )


@pytest.mark.parametrize("name", ["random", "optimal", "explorer", "noisy"])
def test_choices_are_a_function_of_the_seed(name: str) -> None:
    assert choices(begun(name, seed=5), 40) == choices(begun(name, seed=5), 40)
    assert choices(begun(name, seed=5), 40) != choices(begun(name, seed=6), 40)


def test_random_is_uniform_over_the_admissible_actions() -> None:
    counts = Counter(choices(begun("random"), 4000))
    assert set(counts) == set(ACTIONS)
    # Chi-squared with 3 degrees of freedom: 16.3 is exceeded once in a thousand.
    assert sum((count - 1000) ** 2 / 1000 for count in counts.values()) < 16.3
    only = Observation(text="", actions=("WAIT",))
    assert {decision.action for decision in decisions(begun("random"), 20, only)} == {
        "WAIT"
    }


def test_random_without_a_list_of_actions() -> None:
    for actions in (None, ()):
        (decision,) = decisions(
            begun("random"), 1, Observation(text="", actions=actions)
        )
        assert (decision.status, decision.action) == ("error", None)
        assert "needs a list of admissible ones" in decision.detail


def test_optimal_breaks_ties_by_chance_or_by_order() -> None:
    counts = Counter(choices(begun("optimal"), 1000))
    assert set(counts) == {"ON", "SKIP"}
    assert abs(counts["ON"] - 500) < 80
    assert set(choices(begun("optimal", ties="first"), 50)) == {"ON"}


def test_optimal_follows_the_state_of_the_world() -> None:
    world = Row()
    agent = begun("optimal", world=world)
    world.at = 5
    (decision,) = decisions(agent, 1)
    assert (decision.status, decision.detail) == (
        "error",
        "no action is optimal here: no end can be reached any more",
    )
    world.at = 3
    assert set(choices(agent, 20)) == {"ON", "SKIP"}


@pytest.mark.parametrize("name", ["optimal", "explorer"])
def test_optimal_solves_again_when_the_world_has_another_model(name: str) -> None:
    world = Row()
    agent = begun(name, world=world)
    world.at = 2
    assert set(choices(agent, 20)) == {"ON", "SKIP"}
    world.rebuild(end=0)
    assert set(choices(agent, 20)) == {"BACK"}


def test_explorer_does_what_is_best_by_what_is_known() -> None:
    world = Row()
    world.facts = {"belief_optimal": ["BACK", "WAIT"]}
    counts = Counter(choices(begun("explorer", world=world), 1000))
    assert set(counts) == {"BACK", "WAIT"}
    assert abs(counts["BACK"] - 500) < 80
    assert set(choices(begun("explorer", world=world, ties="first"), 20)) == {"BACK"}
    assert set(choices(begun("optimal", world=world), 20)) == {"ON", "SKIP"}


def test_explorer_is_optimal_where_nothing_is_hidden() -> None:
    assert choices(begun("explorer", seed=3), 50) == choices(
        begun("optimal", seed=3), 50
    )


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_noisy_slips_as_often_as_it_says(p: float) -> None:
    n = 6000
    counts = Counter(choices(begun("noisy", p=p), n))
    # A slip is uniform over all four actions, so half of them are optimal nevertheless.
    for action, share in {
        "BACK": p / 4,
        "WAIT": p / 4,
        "ON": 0.5 - p / 4,
        "SKIP": 0.5 - p / 4,
    }.items():
        assert counts[action] / n == pytest.approx(
            share, abs=4 * np.sqrt(share * (1 - share) / n)
        )


def test_slips_do_not_change_what_is_chosen_otherwise() -> None:
    steady, noisy = (
        choices(begun("noisy", p=0.0), 200),
        choices(begun("noisy", p=0.2), 200),
    )
    assert steady == choices(begun("optimal"), 200)
    assert sum(a != b for a, b in zip(steady, noisy, strict=True)) < 60


def test_optimal_needs_a_model() -> None:
    (offer,) = (offer for offer in gde_agents() if offer.name == "optimal")
    with pytest.raises(
        GdeError,
        match="needs an environment that knows what is optimal: take the agent random",
    ):
        offer.made(OptimalConfig(), PlainContext()).begin(
            Brief(task=Task(objective="", horizon=1), seed=0)
        )


@pytest.mark.parametrize(
    ("config", "values", "message"),
    [
        (NoisyConfig, {"p": 1.5}, "agent.p: wanted less than or equal to 1, got 1.5"),
        (
            NoisyConfig,
            {"p": -0.1},
            "agent.p: wanted greater than or equal to 0, got -0.1",
        ),
        (
            OptimalConfig,
            {"ties": "last"},
            "agent.ties: wanted 'random' or 'first', got 'last'",
        ),
    ],
)
def test_refused_configurations(
    config: type[Any], values: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        build(config, values, "agent")


def expert_in(world: Recipe) -> Agent:
    (offer,) = (offer for offer in gde_agents() if offer.name == "expert")
    agent: Agent = offer.made(offer.config(), PlainContext())
    agent.begin(Brief(task=world.task(), seed=0, environment=world))
    return agent


def test_the_expert_does_what_is_demonstrated() -> None:
    world = Recipe(5)
    observation, agent = world.reset(3), expert_in(world)
    order = world.demonstration()
    for step in order:
        (decision,) = decisions(agent, 1, observation)
        assert decision.action == step
        outcome = world.step(step)
        observation = outcome.observation
    assert outcome.success == 1
    (decision,) = decisions(agent, 1, observation)
    assert decision.status == "error"
    assert "no way from here" in decision.detail


def test_the_expert_asks_again_where_it_cannot_go_on() -> None:
    world = Recipe(5)
    world.reset(3)
    agent, (first, second, third, *_) = expert_in(world), world.demonstration()
    assert choices(agent, 1) == [first]
    for step in (first, second):
        world.step(step)
    (decision,) = decisions(agent, 1, Observation(text="", actions=(third,)))
    assert decision.action == third


def test_the_expert_needs_a_demonstration() -> None:
    with pytest.raises(
        GdeError, match="needs an environment that gives demonstrations"
    ):
        begun("expert")
