"""From reward to control: the regret of agents that follow a reward model, beside the
model's EPIC distance in the same domain.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import atanh, sqrt, tanh

import numpy as np
from scipy.stats import norm

from gde.data.evidence import Evidence
from gde.data.figure import Figure
from gde.data.json import Labels
from gde.data.measure import Measure
from gde.data.plan import Choice, Plan
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.numerics.episodes import played, unmeasured
from gde.numerics.leaderboard import OVERALL, Scores, Standing, leaderboard
from gde.numerics.stats import CONFIDENCE, Finding, spearman
from gde.offers import Capability
from gde.parts.reproduction import Comparison, Run, scaled
from gde.seeding import generator
from gde_plugins.reward_prediction.baselines import (
    READING_NOTHING,
    listed,
)
from gde_plugins.reward_prediction.domains import Domain, find_domain, offer_of
from gde_plugins.reward_prediction.measured import BESIDE
from reward_control.config import ControlConfig
from reward_control.figure import Point, figure

RANDOM = "random actions"
ORACLE = "oracle"
FACTORY = "statefactory"
VARIANTS: Mapping[str, Choice] = {
    "flat": Choice(name=FACTORY, alias="flat", config={"level": 1}),
    "objects": Choice(name=FACTORY, alias="objects", config={"level": 3}),
}
"""Reward models with settings, by label."""
REGRET = Measure("regret", "Regret", "share", "less", contender="reward")
BLIND = (*READING_NOTHING, "shuffled")
"""Reward models that do not read what they see."""
BESIDE_RANDOM = "against random actions"
EPIC = "EPIC distance"
PREDICTS = "does EPIC predict regret?"
SOURCE = "none"
Standings = Mapping[tuple[str, str], Standing]
"""By reward model and condition."""


class ControlStudy:
    """Implements `gde.parts.reproduction.Reproduction`.

    In each domain, one run measures the EPIC distances of all reward models. One run
    for each reward model and kind of control plays the same worlds.
    """

    agentless = True

    def __init__(self, config: ControlConfig) -> None:
        """Choose domains and controls.

        Raises:
            GdeError: an unknown or unavailable domain.
        """
        self._config = config
        self._domains = [find_domain(name) for name in listed(config.domains)]
        self._is_certified = {
            domain.name: Capability.OPTIMUM in offer_of(domain).gives
            for domain in self._domains
        }
        best_of = {"plans": config.plans, "depth": config.depth}
        self._controls = {
            "one step": Choice(name="lookahead"),
            f"best of {config.plans}": Choice(name="lookahead", config=best_of),
            "tree search": Choice(name="mcts", config={"budget": config.budget}),
        }

    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:  # noqa: ARG002 - has its own agents
        """Scaled, they have that share of the worlds and of the published pairs."""
        plans: dict[str, Plan] = {}
        share = min(scale, 1.0)
        with_settings = {*VARIANTS, *listed(self._config.rewards)}
        for domain in self._domains:
            rewards = self._rewards(domain)
            world = Choice(name=domain.name)
            plans[f"epic-{domain.name}"] = Plan(
                environment=Choice(
                    name="rewardbench", config={"domain": domain.name, "share": share}
                ),
                agent="random",
                rewards=tuple(rewards),
                metrics=("epic",),
                episodes=2 * domain.tasks(share),
            )
            played = Plan(
                environment=world,
                agent="random",
                metrics=("success",),
                episodes=scaled(self._config.worlds, scale),
            )
            plans[f"random-{domain.name}"] = played
            for control, chosen in self._controls.items():
                for reward in rewards:
                    followed = {**chosen.config, "reward": reward.label}
                    plans[_name(control, domain, reward.label)] = replace(
                        played,
                        agent=replace(chosen, config=followed),
                        # Others are found by name, and need not judge the episodes.
                        rewards=(reward,) if reward.label in with_settings else (),
                    )
        return plans

    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:
        """The regret of every reward model, then how EPIC and regret go together."""
        scores = self._scores(runs)
        against_best = _standings(scores, BLIND)
        against_random = _standings(scores, (RANDOM,))
        distances_in = self._distances(runs)
        rows: list[Comparison] = []
        for domain in self._domains:
            distances = distances_in[domain.name]
            for control in self._controls:
                condition = _condition(control, domain)
                for label in (RANDOM, *self._labels(domain)):
                    others = {
                        BESIDE: _difference(against_best, label, condition),
                        BESIDE_RANDOM: _difference(against_random, label, condition),
                        EPIC: distances.get(label),
                    }
                    rows.append(
                        Comparison(
                            quantity=label,
                            paper=None,
                            ours=_regret(against_best.get((label, condition)), label),
                            source=SOURCE,
                            table=f"regret, {condition}",
                            others={k: v for k, v in others.items() if v is not None},
                        )
                    )
        points = self._points(against_best, distances_in)
        return [*rows, *self._predictions(points)]

    def figures(self, runs: Mapping[str, Run]) -> Sequence[Figure]:
        """EPIC distance against regret: every reward model is a point."""
        standings = _standings(self._scores(runs), BLIND)
        return [figure(self._points(standings, self._distances(runs)))]

    def _rewards(self, domain: Domain) -> list[Choice]:
        """The reward models of a domain, with the truth where it is certified."""
        names = [*listed(self._config.compared), *listed(self._config.rewards)]
        if self._is_certified[domain.name]:
            names.append(ORACLE)
        return [VARIANTS.get(name, Choice(name=name)) for name in dict.fromkeys(names)]

    def _labels(self, domain: Domain) -> list[str]:
        return [one.label for one in self._rewards(domain)]

    def _scores(self, runs: Mapping[str, Run]) -> Scores:
        """Regret by reward model, condition and world."""
        scores: Scores = {}
        for domain in self._domains:
            at_random = _regrets(runs[f"random-{domain.name}"].evidence)
            for control in self._controls:
                condition = _condition(control, domain)
                if at_random:
                    scores.setdefault(RANDOM, {})[condition] = at_random
                for label in self._labels(domain):
                    run = runs[_name(control, domain, label)]
                    if regrets := _regrets(run.evidence):
                        scores.setdefault(label, {})[condition] = regrets
        return scores

    def _distances(self, runs: Mapping[str, Run]) -> dict[str, dict[str, Measurement]]:
        """EPIC distance by domain and reward model."""
        found: dict[str, dict[str, Measurement]] = {}
        for domain in self._domains:
            measured = runs[f"epic-{domain.name}"].result.measurements
            found[domain.name] = {
                str(one.where["reward"]): one for one in measured if one.name == "epic"
            }
        return found

    def _points(
        self,
        standings: Standings,
        distances: Mapping[str, Mapping[str, Measurement]],
    ) -> list[Point]:
        """Every reward model with both numbers, in every condition."""
        points: list[Point] = []
        for domain in self._domains:
            for control in self._controls:
                for label in self._labels(domain):
                    one = standings.get((label, _condition(control, domain)))
                    epic = distances[domain.name].get(label)
                    if one is None or epic is None or epic.value is None:
                        continue
                    points.append(
                        Point(
                            reward=label,
                            domain=domain.title,
                            control=control,
                            epic=epic.value,
                            regret=one.value,
                            interval=one.interval or (one.value, one.value),
                            kind=_kind(label),
                        )
                    )
        return points

    def _predictions(self, points: Sequence[Point]) -> Iterator[Comparison]:
        """The rank correlation over reward models, without the truth itself."""
        for domain in self._domains:
            for control in self._controls:
                own = [
                    one
                    for one in points
                    if (one.domain, one.control) == (domain.title, control)
                    and one.reward != ORACLE
                ]
                where = {"domain": domain.name, "control": control}
                correlation, p_value = rank_correlation(own, where)
                yield Comparison(
                    quantity=f"{_condition(control, domain)}: rank correlation over {len(own)} reward models",
                    paper=None,
                    ours=correlation,
                    source=SOURCE,
                    table=PREDICTS,
                    others={"p value": p_value},
                )


def regret(one: Trajectory) -> float:
    """What an episode lost against the best, as a share of what the best costs or earns.

    With certified distances d to the goal, it is the steps taken and still needed over
    those needed at first, less 1: (t + d(t)) / d(0) - 1. The last decision of an
    episode that does not reach the goal is left out, as no record tells where it led.
    Elsewhere the best earns 1, at the end, and it is 1 less what was earned.
    """
    last = one.turns[-1]
    distances = [-turn.value for turn in one.turns if turn.value is not None]
    if len(distances) < len(one.turns):
        earned = last.reward if last.terminated else 0.0
        return 1 - min(1.0, max(earned, one.success or 0.0))
    if one.succeeded:
        return len(distances) / distances[0] - 1
    return (len(distances) - 1 + distances[-1]) / distances[0] - 1


def rank_correlation(
    points: Sequence[Point], where: Labels
) -> tuple[Measurement, Measurement]:
    """Spearman's correlation of EPIC and regret with its interval (Bonett and Wright
    2000), and the p value of its permutations.
    """
    n = len(points)
    found = Finding(reason="not measured: no reward model has both numbers")
    if points:
        found = spearman(
            [one.epic for one in points],
            [one.regret for one in points],
            np.arange(n),
            generator(0, "reward control"),
        )
    if found.value is not None:
        found = replace(found, interval=_around(found.value, n))
    correlation = found.statistic("rank_correlation", n)
    p_value = found.significance("rank_correlation.p", n)
    return (
        replace(correlation, unit="correlation", where=where),
        replace(p_value, unit="probability", where=where),
    )


def _around(correlation: float, n: int) -> tuple[float, float]:
    if abs(correlation) == 1:
        return correlation, correlation
    z = norm.ppf((1 + CONFIDENCE) / 2)
    error = z * sqrt((1 + correlation**2 / 2) / (n - 3))
    middle = atanh(correlation)
    return tanh(middle - error), tanh(middle + error)


def _regrets(evidence: Evidence) -> dict[str, float]:
    return {one.world.cluster: regret(one) for one in played(evidence)}


def _standings(scores: Scores, baselines: Sequence[str]) -> Standings:
    board = leaderboard(scores, baselines, REGRET)
    return {
        (one.contender, one.condition): one for one in board if one.condition != OVERALL
    }


def _regret(standing: Standing | None, label: str) -> Measurement:
    where = {"reward": label}
    if standing is None:
        reason = "no episode was finished, see the run"
        return unmeasured("regret", reason, where, "share")
    return Measurement(
        name="regret",
        value=standing.value,
        unit="share",
        n=standing.tasks,
        interval=standing.interval,
        where=where,
    )


def _difference(standings: Standings, label: str, condition: str) -> Measurement | None:
    standing = standings.get((label, condition))
    return standing.difference(REGRET) if standing else None


def _kind(label: str) -> str:
    if label == ORACLE:
        return "the truth"
    return "reads nothing" if label in BLIND else "reward model"


def _name(control: str, domain: Domain, label: str) -> str:
    return f"{control.replace(' ', '-')}-{domain.name}-{label}"


def _condition(control: str, domain: Domain) -> str:
    return f"{control}, {domain.title}"
