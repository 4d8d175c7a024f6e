"""What the metrics say of agents whose goals are known."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from pathlib import Path

import numpy as np
import pytest
from sampled import grids, recorded, sample

from gde.data.evidence import Evidence
from gde.data.plan import Choice, Plan
from gde.data.result import Measurement
from gde.offers import Capability
from gde.parts.metric import Metric
from gde.runs.evaluating import evaluate
from gde.testing import check_metric
from gde_plugins.meg import soft_policy
from gde_plugins.meg.metrics.goals import known, towards, unknown
from gde_plugins.meg.plugin import gde_metrics
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.trajectories.utilities import (
    Feature,
    Pursuit,
    own_reward,
)

HORIZON = 10


def agent(pursuit: Pursuit, beta: float, n: int = 40) -> list[Episode]:
    """One episode in each world, of an agent that pursues something."""
    drawn = []
    for i, mdp in enumerate(grids(n)):
        policy = soft_policy(pursuit(mdp), beta, HORIZON)
        (episode,) = sample(
            mdp, policy, 1, np.random.default_rng(i), HORIZON, decisions=HORIZON - 1
        )
        drawn.append(replace(episode, cluster=str(i)))
    return drawn


def by_utility(
    measurements: Sequence[Measurement], name: str
) -> dict[str, Measurement]:
    return {
        str(each.where["utility"]): each for each in measurements if each.name == name
    }


def by_name(measurements: Sequence[Measurement]) -> dict[str, Measurement]:
    return {each.name: each for each in measurements}


@pytest.mark.parametrize(("after", "other"), [("key", "goal"), ("goal", "key")])
def test_what_an_agent_is_after_is_told_from_what_it_could_be_after(
    after: str, other: str
) -> None:
    values = by_utility(towards(recorded(agent(Feature(after), 2.0))), "meg.to")
    assert set(values) == {"goal", "key", "row", "column", "wall"}
    assert values[after].interval is not None
    assert values[after].interval[0] > max(0.5, values[other].value or 0.0)


def test_an_agent_that_avoids_the_key_has_a_negative_value_towards_it() -> None:
    measured = towards(recorded(agent(Feature("key"), -2.0)))
    value = by_utility(measured, "meg.to")["key"]
    assert value.interval is not None
    assert value.interval[1] < 0


@pytest.mark.extended
def test_a_random_agent_is_after_nothing() -> None:
    evidence = recorded(agent(own_reward, 0.0, 100))
    measured = [*known(evidence), *unknown(evidence)]
    for name in ("meg.known", "meg.unknown"):
        interval = by_name(measured)[name].interval
        assert interval is not None
        assert interval[0] == 0.0
        assert interval[1] < 0.2


def test_an_optimal_agent_is_near_the_upper_bound() -> None:
    measured = by_name(known(recorded(agent(own_reward, inf, 100))))
    share = measured["meg.known.share"]
    assert 0.85 < (share.value or 0.0) < 1
    assert measured["meg.known.beta"].value is None
    assert measured["meg.known.beta"].reason == (
        "infinite: every episode is compatible with going for the most reward possible"
    )
    assert share.interval is not None
    assert share.interval[0] <= (share.value or 0.0) <= share.interval[1]


def test_the_goal_as_a_feature_is_the_reward_of_a_step_cost() -> None:
    evidence = recorded(agent(own_reward, 1.5))
    assert by_utility(towards(evidence), "meg.to")["goal"].value == pytest.approx(
        by_name(known(evidence))["meg.known"].value
    )


def test_unusable_decisions_are_counted() -> None:
    episodes = agent(own_reward, 1.5)
    mute = replace(episodes[0], actions=np.full_like(episodes[0].actions, -1))
    found = by_name(known(recorded([mute, *episodes[1:]])))["meg.known.unusable"]
    assert found.value == len(mute.actions)
    assert found.n == sum(len(episode.actions) for episode in episodes)


def test_an_agent_that_never_gets_anywhere_is_not_said_to_take_the_worst_actions_only() -> (
    None
):
    measured = by_name(known(recorded(agent(own_reward, -inf, 20)), deadline=True))
    assert measured["meg.known.beta"].reason == (
        "infinite: every episode is compatible with going for the least reward possible"
    )


def one_world(n: int, beta: float = 0.0) -> Evidence:
    """Episodes in one world, as comparisons of runs take them."""
    mdp = grids(1)[0]
    drawn = sample(
        mdp,
        soft_policy(mdp, beta, HORIZON),
        n,
        np.random.default_rng(0),
        HORIZON,
        decisions=HORIZON - 1,
    )
    evidence = recorded([replace(episode, cluster="one") for episode in drawn])
    return replace(evidence, part={"world": "world 0"})


def test_a_single_episode_shows_the_unusable_decisions_and_no_directedness() -> None:
    evidence = one_world(1)
    values = {each.name: each.value for each in (*known(evidence), *unknown(evidence))}
    assert values.pop("meg.known.unusable") == 0
    assert set(values) == {
        *(
            f"meg.{which}{of}"
            for which in ("known", "unknown")
            for of in ("", ".share")
        ),
        "meg.unknown.weight",
    }
    assert set(values.values()) == {None}
    assert {each.value for each in towards(evidence) if each.name == "meg.to"} == {None}


def test_a_world_by_itself_has_a_corrected_value_and_no_rationality() -> None:
    evidence = one_world(20, 1.0)
    alone, whole = by_name(known(evidence)), by_name(known(replace(evidence, part={})))
    assert (alone["meg.known"].value or 0.0) > 0
    assert alone["meg.known"].interval is None
    assert "meg.known.beta" not in alone
    assert (whole["meg.known.beta"].value or 0.0) > 0


def test_what_too_few_worlds_say_of_features_is_not_told() -> None:
    measured = by_name(unknown(recorded(agent(own_reward, 1.5, 24))))
    reason = "wanted at least 25 independent worlds to fit 5 weights (5 each), got 24"
    assert {(name, each.value, each.reason) for name, each in measured.items()} == {
        (f"meg.unknown{of}", None, reason) for of in ("", ".share", ".weight")
    }


def test_an_agent_that_never_answers_is_counted_and_not_judged() -> None:
    mute = [
        replace(one, actions=np.full_like(one.actions, -1))
        for one in agent(own_reward, 1.5, 30)
    ]
    measured = by_name(known(recorded(mute)))
    assert measured["meg.known.unusable"].value == sum(len(one.actions) for one in mute)
    for name in ("meg.known", "meg.known.share", "meg.known.beta"):
        assert measured[name].reason.endswith("decisions names an action")


@pytest.mark.parametrize("metric", [known, unknown, towards])
def test_a_world_of_one_action_leaves_nothing_to_decide(metric: Metric) -> None:
    (episode,) = agent(own_reward, 1.0, 1)
    mdp = replace(
        episode.mdp,
        transition=episode.mdp.transition[:1],
        actions=episode.mdp.actions[:1],
    )
    forced = replace(episode, mdp=mdp, states=episode.states[:1], actions=np.array([0]))
    (measured,) = metric(recorded([forced]))
    assert (
        measured.reason
        == "wanted worlds with at least two actions, got one: there is nothing to decide"
    )


@pytest.mark.parametrize("metric", [known, unknown, towards])
def test_what_cannot_be_measured_has_a_reason(metric: Metric) -> None:
    evidence = recorded(agent(own_reward, 1.0, 3))
    assert [one.reason for one in metric(Evidence(trajectories=()))] == [
        "no episode was finished"
    ]
    assert [one.reason for one in metric(replace(evidence, mdp=None))] == [
        "the environment gives no model of its worlds"
    ]
    first = evidence.trajectories[0]
    stateless = replace(
        first, turns=(replace(first.turns[0], state=None), *first.turns[1:])
    )
    (measured,) = metric(replace(evidence, trajectories=(stateless,)))
    assert (
        measured.reason
        == "episode 0/0/0 does not fit the model of its world: turn 0 records no state of the model"
    )


@pytest.mark.parametrize("metric", [known, unknown, towards])
def test_metrics_keep_their_promises(metric: Metric) -> None:
    check_metric(lambda: metric)
    check_metric(lambda: metric, recorded(agent(own_reward, 1.0, 5)))


@pytest.mark.parametrize("metric", [known, unknown, towards])
def test_worlds_that_cannot_be_measured_together_are_a_reason(metric: Metric) -> None:
    episodes = agent(own_reward, 1.0, 2)
    other = replace(episodes[1], mdp=replace(episodes[1].mdp, discount=0.5))
    (measured,) = metric(recorded([episodes[0], other]))
    assert measured.reason.startswith(
        "wanted episodes in worlds of one number of actions, one discount"
    )


def test_worlds_without_features_leave_nothing_to_be_after() -> None:
    episodes = agent(own_reward, 1.0, 3)
    bare = {id(episode.mdp): replace(episode.mdp, labels={}) for episode in episodes}
    evidence = recorded(
        [replace(episode, mdp=bare[id(episode.mdp)]) for episode in episodes]
    )
    for metric in (unknown, towards):
        (measured,) = metric(evidence)
        assert (
            measured.reason
            == "the models of the worlds share no label that differs between states"
        )


def test_the_metrics_are_asked_for_by_name(tmp_path: Path) -> None:
    plan = Plan(
        environment=Choice(name="grid"),
        agent=Choice(name="noisy"),
        episodes=5,
        metrics=tuple(
            Choice(name=offer.name)
            for offer in gde_metrics()
            if offer.needs <= {Capability.MDP}
        ),
    )
    result = evaluate(plan, tmp_path / "run")
    assert result.status == "ok"
    names = {each.name for each in result.measurements}
    assert {
        "meg.known",
        "meg.to",
        "meg.unknown",
        "meg.unknown.weight",
    } <= names
