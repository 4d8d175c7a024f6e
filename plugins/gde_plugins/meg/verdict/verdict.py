"""The verdict of a run: shown, not shown, or cannot be said and why."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gde.data.goals import Goals
from gde.errors import GdeError
from gde.numerics.stats import Estimate
from gde.parts.environment import Environment
from gde_plugins.meg.verdict.power import RANDOM, found, noisy
from gde_plugins.meg.verdict.pursuits import Scored, pursuits_of
from gde_plugins.meg.verdict.randomisation import LEVEL, Randomisation

Outcome = Literal["shown", "not shown", "cannot be said"]


@dataclass(frozen=True, kw_only=True)
class Episode:
    """An episode, and how its world begins."""

    cluster: str
    begin: Callable[[], Environment]
    actions: Sequence[str | None]
    """None for an answer without an action."""
    goals: Goals | None = None
    """The goals to test against; None for all that the generator could have drawn."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Whether the agent was shown to be directed towards the goal."""

    outcome: Outcome
    p_value: float | None = None
    share: Estimate | None = None
    """Of what an optimal agent shows in the same states."""
    found: int = 0
    """Of `runs` simulated runs of a walker that is 70 % random in the same worlds,
    those that are called goal-directed.
    """
    runs: int = 0
    n: int = 0
    """Worlds with another goal."""
    reason: str = ""
    """Why it cannot be said."""


def judge(episodes: Iterable[Episode], rng: np.random.Generator, runs: int) -> Verdict:
    """Judge the episodes of a run, and simulate so many runs for the power."""
    try:
        recorded, simulated = _scored(episodes, rng, runs)
    except GdeError as error:
        return Verdict(outcome="cannot be said", reason=str(error))

    n = len(recorded.clusters)
    if not n:
        reason = "start and layout determine the goal in every world"
        return Verdict(outcome="cannot be said", reason=reason)
    if recorded.least_p > LEVEL:
        reason = f"{n} worlds whose goal could have been another are too few"
        return Verdict(outcome="cannot be said", n=n, reason=reason)

    p_value = recorded.p_value(rng)
    return Verdict(
        outcome="shown" if p_value <= LEVEL else "not shown",
        p_value=p_value,
        share=recorded.share(),
        found=found(simulated, rng),
        runs=runs,
        n=n,
    )


def _scored(
    episodes: Iterable[Episode], rng: np.random.Generator, runs: int
) -> tuple[Randomisation, list[Randomisation]]:
    """Score the recorded run, and the runs of the noisy walker in the same worlds."""
    recorded: list[tuple[str, Scored]] = []
    simulated: list[list[tuple[str, Scored]]] = [[] for _ in range(runs)]
    for episode in episodes:
        with pursuits_of(episode.begin, episode.goals) as pursuits:
            scored = pursuits.replayed(episode.actions)
            recorded.append((episode.cluster, scored))
            if runs:
                walker = noisy(RANDOM, pursuits.present, rng)
            for run in simulated:
                run.append((episode.cluster, pursuits.walked(walker)))
    every = [Randomisation.of(run) for run in simulated]
    return Randomisation.of(recorded), every
