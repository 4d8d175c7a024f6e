"""Agents whose behaviour is known beforehand score what they must, in real runs on
grids.
"""

from collections.abc import Callable
from math import log2
from pathlib import Path

import numpy as np
import pytest

from gde.data.evidence import Evidence
from gde.data.how import How
from gde.data.json import Json
from gde.data.mdp import Policy
from gde.data.plan import Choice, Plan
from gde.data.result import Measurement
from gde.numerics.episodes import is_optimal
from gde.numerics.tabular import occupancy, solve
from gde.parts.metric import Metric
from gde.runs.evaluating import evaluate
from gde.stages.evidence import load_evidence
from gde_plugins.behaviour.difficulty import difficulty
from gde_plugins.behaviour.efficiency import Losses, efficiency
from gde_plugins.behaviour.overlap import overlap
from gde_plugins.behaviour.performance import accuracy, success
from gde_plugins.behaviour.policy import policy
from gde_plugins.behaviour.visits import visited

METRICS = (success, accuracy, policy, efficiency, overlap, difficulty)
Played = Callable[..., Evidence]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    def play(
        agent: str, grid: dict[str, Json], episodes: int, repeats: int, **config: Json
    ) -> Evidence:
        plan = Plan(
            environment=Choice(name="grid", config=grid),
            agent=Choice(name=agent, config=config),
            metrics=(Choice(name="success"),),
            episodes=episodes,
            repeats=repeats,
        )
        run: Path = tmp_path_factory.mktemp(agent) / "run"
        how = How(reporters=("html",))
        assert not evaluate(plan, run, how=how).failures
        return load_evidence(run)

    return play


def numbers(evidence: Evidence, *metrics: Metric) -> dict[str, Measurement]:
    """Those of the whole run, by name."""
    return {
        one.name: one for metric in metrics for one in metric(evidence) if not one.where
    }


def value(evidence: Evidence, metric: Metric, name: str) -> float:
    found = numbers(evidence, metric)[name].value
    assert found is not None
    return found


@pytest.mark.parametrize("ties", ["first", "random"])
@pytest.mark.parametrize("density", [0.0, 0.4])
def test_the_optimal_agent_is_perfect_however_it_breaks_ties(
    played: Played, ties: str, density: float
) -> None:
    evidence = played(
        "optimal", {"size": 9, "density": density}, episodes=8, repeats=6, ties=ties
    )
    found = {
        name: one.value
        for name, one in numbers(
            evidence, success, accuracy, policy, efficiency
        ).items()
    }
    assert (
        found["success"]
        == found["accuracy"]
        == found["accuracy.pooled"]
        == found["efficiency.spl"]
        == 1
    )
    assert found["policy.jsd_nearest"] == found["efficiency.regret"] == 0
    # It is not the uniform policy: it has but one action a state, or has sampled the
    # uniform one six times.
    assert found["policy.jsd"] > 0
    assert (found["policy.entropy"] == 0) == (ties == "first")
    assert found["policy.entropy"] < found["policy.entropy_optimal"]


def test_where_the_best_way_is_the_only_one_the_optimal_agent_does_not_diverge_at_all(
    played: Played,
) -> None:
    evidence = played("optimal", {"size": 9, "density": 1.0}, episodes=8, repeats=3)
    assert value(evidence, policy, "policy.jsd") == 0
    assert value(evidence, overlap, "overlap.jaccard") == 1
    assert {
        one.value for one in difficulty(evidence) if one.name == "difficulty.jsd"
    } == {0, None}


@pytest.mark.extended
def test_played_for_long_the_random_tie_break_approaches_the_uniform_optimal_policy(
    played: Played,
) -> None:
    few, many = (
        played("optimal", {"size": 5, "density": 0.0}, episodes=6, repeats=n)
        for n in (3, 120)
    )
    assert 0 < value(many, policy, "policy.jsd") < value(few, policy, "policy.jsd") / 5


@pytest.fixture(scope="module")
def chance(played: Played) -> Evidence:
    return played("random", {"size": 5, "density": 0.5}, episodes=6, repeats=200)


def expected(evidence: Evidence) -> dict[str, float]:
    """What a uniformly random agent must score: occupancies of the uniform policy,
    worlds weighted equally.
    """
    totals = {"steps": 0.0, "optimal": 0.0, "regret": 0.0, "reached": 0.0}
    worlds = {one.world.id: one for one in evidence.trajectories}
    assert evidence.mdp is not None
    for one in worlds.values():
        mdp = evidence.mdp(one)
        uniform = Policy(
            probabilities=np.full((mdp.n_states, mdp.n_actions), 1 / mdp.n_actions)
        )
        visits = occupancy(mdp, uniform, one.horizon)
        totals["steps"] += visits.sum()
        totals["optimal"] += visits[solve(mdp).optimal].sum()
        totals["regret"] += (visits * Losses.of(mdp).loss[:, :-1]).sum()
        totals["reached"] += sum(
            (visits[:, a] @ mdp.transition[a])[mdp.terminal].sum()
            for a in range(mdp.n_actions)
        )
    return {
        "accuracy.pooled": totals["optimal"] / totals["steps"],
        "efficiency.regret": totals["regret"] / len(worlds),
        "success": totals["reached"] / len(worlds),
    }


def standard_errors(evidence: Evidence, scores: dict[str, float]) -> dict[str, float]:
    """Of the three numbers, were worlds drawn anew for each episode: more than those of
    fixed worlds.
    """
    ends, right, steps, regrets = np.array(
        [
            [
                one.succeeded,
                sum(map(is_optimal, one.turns)),
                len(one.turns),
                Losses.of(evidence.mdp(one)).regret(one),
            ]
            for one in evidence.trajectories
        ]
    ).T
    residuals = {"success": ends, "efficiency.regret": regrets}
    residuals["accuracy.pooled"] = (
        right - scores["accuracy.pooled"] * steps
    ) / steps.mean()
    return {
        name: float(values.std() / np.sqrt(len(values)))
        for name, values in residuals.items()
    }


@pytest.mark.extended
def test_the_random_agent_scores_what_its_occupancies_say(chance: Evidence) -> None:
    found, wanted = numbers(chance, success, accuracy, efficiency), expected(chance)
    for name, error in standard_errors(chance, wanted).items():
        assert found[name].value == pytest.approx(wanted[name], abs=4 * error), name
        assert error < 0.04 * max(1.0, wanted[name]), "a test of nothing"


@pytest.mark.extended
def test_the_random_agents_policy_is_uniform_where_it_was_often(
    chance: Evidence,
) -> None:
    often = [
        one
        for states in visited(chance.trajectories).values()
        for one in states
        if one.actions.total() > 150
    ]
    assert len(often) >= 6
    for state in often:
        m = len(state.optimal or ()) / 4
        nearest = 1 + (m * log2(m) - (1 + m) * log2(1 + m)) / 2
        # Relative frequencies of 150 draws have standard errors below 0.04.
        assert state.entropy == pytest.approx(2, abs=0.05)
        assert state.least_divergence == pytest.approx(nearest, abs=0.08)
        assert state.divergence == pytest.approx(nearest, abs=0.08)


@pytest.mark.extended
def test_more_slips_are_worse_by_every_number(played: Played) -> None:
    grid: dict[str, Json] = {"size": 7, "density": 0.5}
    slips = (0.0, 0.25, 0.5, 1.0)
    found = [
        numbers(
            played("noisy", grid, 20, 5, p=p), success, accuracy, policy, efficiency
        )
        for p in slips
    ]
    for name in ("success", "accuracy", "accuracy.pooled", "efficiency.spl"):
        values = [one[name].value for one in found]
        assert values == sorted(values, reverse=True), name
    for name in (
        "policy.entropy",
        "policy.jsd",
        "policy.jsd_nearest",
        "efficiency.regret",
    ):
        values = [one[name].value for one in found]
        assert values == sorted(values), name


def test_the_numbers_of_a_run_do_not_depend_on_the_order_of_its_record(
    chance: Evidence,
) -> None:
    turned = Evidence(
        trajectories=chance.trajectories[::-1], seed=chance.seed, mdp=chance.mdp
    )
    for metric in METRICS:
        for one, other in zip(metric(chance), metric(turned), strict=True):
            assert (one.name, one.where, one.n) == (other.name, other.where, other.n)
            assert one.value == (
                None if other.value is None else pytest.approx(other.value)
            )
            assert one.interval == (
                None if other.interval is None else pytest.approx(other.interval)
            )
