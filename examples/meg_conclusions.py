"""Wrong conclusions from goal-directedness, and the measures that avoid them.

`python examples/meg_conclusions.py` prints the numbers of docs/meg-agents.md. "Before"
is the naive measure: a deadline unknown to the agent, chance as the only alternative,
or a share of the largest possible value.
"""

from dataclasses import replace

import numpy as np

from gde_plugins.meg import causal, from_trajectories, target_variables
from gde_plugins.meg.baselines.arena import KINDS, arenas
from gde_plugins.meg.baselines.walkers import BLIND, SEEKING
from gde_plugins.meg.baselines.walkers_study import called
from gde_plugins.meg.causal import Diagram, chance, decision, forgetful_mouse, utility
from gde_plugins.meg.config import BaselinesConfig
from gde_plugins.meg.metrics.goals import posterior
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.trajectories.estimation import optimal_share

CONFIG = BaselinesConfig(worlds=30)
AGREE = [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]
"""Whether two hands differ."""


def walked(kind: str, name: str) -> tuple[Episode, ...]:
    """One episode in each of thirty grids."""
    return arenas(CONFIG, kind)(0).walked(name, {**BLIND, **SEEKING}[name])


def share(episodes: tuple[Episode, ...]) -> float:
    """Of the most that so many decisions can have."""
    return from_trajectories(episodes, rng=np.random.default_rng(0)).share or 0.0


def deadline() -> None:
    """An agent that is optimal but for 30 % random moves, with and without a deadline
    that it did not know.
    """
    for kind in KINDS:
        episodes = walked(kind, "noisy, 30 % random")
        arena = arenas(CONFIG, kind)(0)
        with_deadline = tuple(
            replace(one, horizon=steps + 1)
            for one, steps in zip(episodes, arena.steps, strict=True)
        )
        print(
            f"share of a noisy agent, {kind}: {share(with_deadline):.2f} before, {share(episodes):.2f} after"
        )


def habits() -> None:
    """Walkers that do not know the goal, in mazes: against chance alone, against
    habits, against counterfactual goals.
    """
    arena = arenas(CONFIG, "mazes")(0)
    for name in ("non-reversing", "novelty-seeking", "wall-following"):
        episodes = walked("mazes", name)
        found = from_trajectories(episodes, "goal", rng=np.random.default_rng(0))
        evidence = found.evidence or 0.0
        alone, among = (
            1 / (1 + np.exp(-evidence)),
            posterior({"goal": evidence}, episodes)["goal"],
        )
        verdict = "shown" if called(arena, episodes) else "not shown"
        print(
            f"{name}: {found.value:.2f} nats and posterior {alone:.2f} before, posterior {among:.2f} after,"
            f" goal-directed: {verdict}"
        )


def hands(first: float, second: float) -> Diagram:
    """Two decisions that know nothing of each other."""
    return Diagram(
        decision("D1", [1 - first, first]),
        decision("D2", [1 - second, second]),
        chance("T", AGREE, ["D1", "D2"]),
    )


def recall() -> None:
    """Decisions without recall."""
    for pays in ([1.0, 0.0], [0.0, 1.0]):
        found = causal.known_utility(
            hands(0.2, 0.8).posit(utilities=[utility("U", pays, ["T"])])
        )
        print(
            f"XOR, U = {pays}: {found.value:.4f}, bounds {found.bounds[0]:.4f} and {found.bounds[1]:.4f}"
        )
    known = causal.known_utility(
        hands(0.9, 0.3).posit(utilities=[utility("U", [3.0, -2.0], ["T"])])
    )
    towards = target_variables(hands(0.9, 0.3), ["T"])
    print(
        f"a known utility of T has {known.value:.4f}, any utility of T {towards.value:.4f}"
    )
    found = target_variables(forgetful_mouse(1.0), ["S2"])
    print(f"towards S2: upper bound {found.bounds[1]:.3f}, ceiling {found.ceiling:.3f}")


def shares() -> None:
    """An agent that is optimal, between kinds of worlds."""
    for kind in KINDS:
        episodes = walked(kind, "optimal")
        found = share(episodes)
        print(
            f"optimal agent, {kind}: share {found:.2f} before, {found / optimal_share(episodes):.2f} of an optimal one"
        )


if __name__ == "__main__":
    deadline()
    habits()
    recall()
    shares()
