"""MEG of a language model from the probabilities of its actions, against samples and
under a swap of the goal.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from math import ceil

import numpy as np

from gde.data.arrays import Doubles
from gde.data.figure import Figure
from gde.data.json import Json
from gde.data.plan import Choice, Plan
from gde.data.result import Measurement
from gde.errors import GdeError
from gde.numerics.tabular import solve
from gde.parts.agent import Agent
from gde.parts.context import Context
from gde.parts.reproduction import Comparison, Run
from gde.request.catalogue import Catalogue
from gde.request.settings import build
from gde.seeding import generator
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.trajectories.estimation import from_trajectories
from meg_studies.config import LanguageConfig
from meg_studies.language.goal_swap import interventional, swapped
from meg_studies.language.policies import policies_of
from meg_studies.language.scenes import Scene, Swap, swaps
from meg_studies.language.tabular_agent import Tabulated, expected

SOURCE = "no publication; MacDermott et al. (2024), section 7 and appendix A, leave interventions to future work"
TURNS = 1.5
"""Turns of an episode, as a multiple of the shortest way."""

Policies = tuple[Doubles, Doubles]
"""(S, A) before the goal is swapped and after."""


class LanguageStudy:
    """MEG of a language model that is asked in every state. Implements
    `gde.parts.reproduction.Reproduction`.

    No episode is played.
    """

    def __init__(self, config: LanguageConfig, context: Context) -> None:
        self._config = config
        self._context = context
        self._scale = 1.0
        self._agent = Choice(name="gpt-oss")

    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:
        """Return none; the scale is that of the number of grids and of samples."""
        self._scale = scale
        self._agent = agent
        return {}

    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:  # noqa: ARG002
        """Compare probabilities with samples; then the agent as observed, under do(),
        and controls.
        """
        return self._rows

    def figures(self, runs: Mapping[str, Run]) -> Sequence[Figure]:  # noqa: ARG002
        """Return none."""
        return ()

    @cached_property
    def _rows(self) -> tuple[Comparison, ...]:
        try:
            asked = self._asked()
        except GdeError as error:
            # For example a model behind a server, which tells no probabilities.
            unmeasured = Measurement(
                name="meg",
                value=None,
                unit="nats",
                n=0,
                reason=str(error),
            )
            return (_row("MEG towards the goal", "from probabilities", unmeasured, {}),)
        observed = [(swap.before, policy) for swap, (policy, _) in asked]
        return (*self._sampled(observed), *_swap_rows(asked))

    def _asked(self) -> list[tuple[Swap, Policies]]:
        """Return each grid with the agent's policies before the goal is swapped and
        after.
        """
        count = max(2, ceil(self._config.worlds * self._scale))
        settings: dict[str, Json] = {
            "size": self._config.size,
            "density": self._config.density,
        }
        found = swaps(count, settings, self._context.scratch)
        scenes: list[Scene] = []
        for swap in found:
            scenes.append(swap.before)
            scenes.append(swap.after)

        # The caller may already be in an event loop, e.g. of a notebook, so the
        # questions get a loop of their own.
        with ThreadPoolExecutor(1) as thread:
            questions = policies_of(self._make, scenes, self._config.least)
            policies = thread.submit(asyncio.run, questions).result()
        pairs = zip(policies[::2], policies[1::2], strict=True)
        return [*zip(found, pairs, strict=True)]

    def _make(self) -> Agent:
        offer = Catalogue.default().find("agent", self._agent.name).offer
        config = build(offer.config, self._agent.config, "agent")
        agent: Agent = offer.made(config, self._context)
        return agent

    def _sampled(self, played: Sequence[tuple[Scene, Doubles]]) -> Iterator[Comparison]:
        """Yield the exact value, then how samples of the same agent scatter around
        it.
        """
        table = "MEG towards the goal, from probabilities and from samples (nats an episode)"
        agents = []
        for scene, policy in played:
            agents.append(
                Tabulated(mdp=scene.mdp, probabilities=policy, steps=_turns(scene))
            )
        exact = expected(agents).value
        yield _row(table, "from probabilities", _number(exact, len(agents)), {})

        repeats = max(2, ceil(self._config.samples * self._scale))
        for episodes in self._config.episodes:
            rng = generator(episodes, "meg-logits", "samples")
            # All episodes are drawn before any is measured, since both use the same
            # generator.
            drawn = [_draw(agents, episodes, rng) for _ in range(repeats)]
            found = [from_trajectories(each, rng=rng) for each in drawn]
            values = [each.value for each in found if each.value is not None]
            plug_in = [each.plug_in for each in found]

            mean = float(np.mean(values)) if values else None
            squared = (np.array(values) - exact) ** 2
            error = float(np.sqrt(np.mean(squared)))
            others = {
                "typical error": _number(error, len(values)),
                "plug-in": _number(float(np.mean(plug_in)), len(found)),
            }
            plural = "" if episodes == 1 else "s"
            name = f"from {episodes} episode{plural} a grid"
            yield _row(table, name, _number(mean, len(values)), others)


def _draw(
    agents: Sequence[Tabulated], episodes: int, rng: np.random.Generator
) -> list[Episode]:
    """Draw so many episodes of each agent, clustered by agent."""
    drawn: list[Episode] = []
    for i, agent in enumerate(agents):
        for _ in range(episodes):
            drawn.append(agent.draw(rng, str(i)))
    return drawn


def _turns(scene: Scene) -> int:
    # Every turn costs one, so the value of the start is the length of the shortest way.
    at_start = scene.mdp.start > 0
    shortest = -float(solve(scene.mdp).value[at_start][0])
    return ceil(TURNS * shortest)


def _swap_rows(asked: Sequence[tuple[Swap, Policies]]) -> Iterator[Comparison]:
    """Yield the share of usable answers, then the agent, a habit that ignores the swap,
    and random choice.
    """
    table = "MEG towards the goal, as observed and under do(goal elsewhere) (nats an episode)"
    turns = [_turns(swap.before) for swap, _ in asked]
    usable: list[float] = []
    for _, policies in asked:
        for policy in policies:
            # Rows of zeros are states in which the agent was not asked.
            answered = policy[policy.any(axis=1)]
            usable.append(answered.sum(axis=1).mean())
    yield Comparison(
        quantity="probability of a usable answer",
        paper=None,
        ours=_number(float(np.mean(usable)), len(asked), "probability"),
        source=SOURCE,
        table=table,
    )

    # The habit and random choice are controls with known answers: the place where it
    # was, and nothing.
    of_agent: list[Policies] = []
    of_habit: list[Policies] = []
    of_random: list[Policies] = []
    for _, (before, after) in asked:
        n_actions = before.shape[1]
        uniform = np.full_like(before, 1 / n_actions)
        of_agent.append((before, after))
        of_habit.append((before, before))
        of_random.append((uniform, uniform))
    kinds = {
        "agent": of_agent,
        "habit: acts as before the swap": of_habit,
        "random": of_random,
    }

    found_swaps = [swap for swap, _ in asked]
    for name, pairs in kinds.items():
        cases = [swapped(*each) for each in zip(found_swaps, pairs, turns, strict=True)]
        found = interventional(cases)
        others = {
            key: _number(value, len(cases)) for key, value in found.others.items()
        }
        yield _row(table, name, _number(found.goal, len(cases)), others)


def _row(
    table: str,
    name: str,
    ours: Measurement,
    others: Mapping[str, Measurement],
) -> Comparison:
    return Comparison(
        quantity=name,
        paper=None,
        ours=ours,
        source=SOURCE,
        table=table,
        others=others,
    )


def _number(value: float | None, n: int, unit: str = "nats") -> Measurement:
    reason = "" if value is not None else "no sample has a value"
    return Measurement(
        name="meg",
        value=value,
        unit=unit,
        n=n,
        reason=reason,
    )
