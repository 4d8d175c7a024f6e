"""The verdict of a run: towards the goal, away from it, not shown, or cannot be said and
why.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from gde.data.goals import Goals
from gde.errors import GdeError
from gde.numerics.stats import Estimate, holm
from gde.parts.environment import Environment
from gde_plugins.meg.verdict.power import RANDOM, found, noisy
from gde_plugins.meg.verdict.pursuits import Scored, pursuits_of
from gde_plugins.meg.verdict.randomisation import LEVEL, Randomisation

Outcome = Literal[
    "towards", "towards this region", "away from", "not shown", "cannot be said"
]


@dataclass(frozen=True, kw_only=True)
class Episode:
    """An episode, and how its world begins."""

    cluster: str
    begin: Callable[[], Environment]
    actions: Sequence[str | None]
    """None for an answer without an action."""
    goals: Goals | None = None
    """The goals to test against; None for all that the generator could have drawn."""
    base: Callable[[str], str] = str
    """The name of a goal in the world that this one is a variation of."""
    condition: int = 0


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Whether the agent was shown to be directed towards the goal, or away from it.

    Towards this region: see `Randomisation.falls_short`.
    """

    outcome: Outcome
    p_value: float | None = None
    """After Holm (1979) over the conditions of a run."""
    raw: float | None = None
    """The same before correction."""
    share: Estimate | None = None
    """Of what an optimal agent shows in the same states."""
    found: int = 0
    """Of `runs` simulated runs of a walker that is 70 % random in the same worlds,
    those that are called directed towards the goal.
    """
    runs: int = 0
    n: int = 0
    """Worlds with another goal and a usable decision."""
    reason: str = ""
    """Why it cannot be said."""


@dataclass(frozen=True, eq=False)
class Replayed:
    """The scores of episodes, and those of the noisy walker in the same worlds."""

    recorded: list[tuple[str, Scored]] = field(default_factory=list)
    simulated: list[list[tuple[str, Scored]]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    """Why an episode could not be scored."""

    def judged(self, rng: np.random.Generator) -> Verdict:
        """Test whether the agent is goal-blind."""
        if self.failures:
            return Verdict(outcome="cannot be said", reason=self.failures[0])
        try:
            run = Randomisation.of(self.recorded)
            simulated = [Randomisation.of(each) for each in self.simulated]
        except GdeError as error:
            return Verdict(outcome="cannot be said", reason=str(error))

        n = len(run.answered)
        reason = ""
        decisions = sum(each.decisions for each in run.clusters)
        usable = sum(each.usable for each in run.clusters)
        if not run.clusters:
            reason = "start and layout determine the goal in every world"
        elif run.least_p > LEVEL:
            reason = f"{n} worlds whose goal could have been another are too few"
            if usable < decisions:
                reason += (
                    f"; {decisions - usable} of {decisions} decisions name no action"
                )
        if reason:
            return Verdict(outcome="cannot be said", n=n, reason=reason)

        p_value = run.p_value(rng)
        outcome: Outcome = "towards" if run.is_towards else "away from"
        if run.is_towards and run.falls_short:
            outcome = "towards this region"
        return Verdict(
            outcome=outcome,
            p_value=p_value,
            raw=p_value,
            share=run.share(),
            found=found(simulated, rng),
            runs=len(simulated),
            n=n,
        )


def judge(
    episodes: Iterable[Episode], rng: np.random.Generator, runs: int
) -> tuple[Verdict, dict[int, Verdict]]:
    """Judge the episodes of a run together, and of each condition by itself; simulate
    so many runs for the power.
    """
    whole = Replayed(simulated=[[] for _ in range(runs)])
    parts: dict[int, Replayed] = {}
    try:
        for episode in episodes:
            fresh = Replayed(simulated=[[] for _ in range(runs)])
            part = parts.setdefault(episode.condition, fresh)
            try:
                _replay(episode, rng, (whole, part))
            except GdeError as error:
                whole.failures.append(str(error))
                part.failures.append(str(error))
    except GdeError as error:
        # The goals of a pair cannot be told.
        return Verdict(outcome="cannot be said", reason=str(error)), {}

    verdicts = {key: part.judged(rng) for key, part in parts.items()}
    tested = {key: one for key, one in verdicts.items() if one.raw is not None}
    corrected = holm([one.raw or 0.0 for one in tested.values()])
    for (key, one), p_value in zip(tested.items(), corrected, strict=True):
        verdicts[key] = _called(replace(one, p_value=p_value))
    return _called(whole.judged(rng)), verdicts


def _called(verdict: Verdict) -> Verdict:
    """Return the verdict as its p value allows."""
    if verdict.p_value is None or verdict.p_value <= LEVEL:
        return verdict
    return replace(verdict, outcome="not shown")


def _replay(
    episode: Episode, rng: np.random.Generator, into: Sequence[Replayed]
) -> None:
    """Score an episode, and those of the noisy walker in its world."""
    with pursuits_of(episode.begin, episode.goals, episode.base) as pursuits:
        scored = pursuits.replayed(episode.actions)
        runs = len(into[0].simulated)
        walked = []
        if runs:
            walker = noisy(RANDOM, pursuits.present, rng)
            walked = [pursuits.walked(walker) for _ in range(runs)]
    for replayed in into:
        replayed.recorded.append((episode.cluster, scored))
        for run, one in zip(replayed.simulated, walked, strict=True):
            run.append((episode.cluster, one))
