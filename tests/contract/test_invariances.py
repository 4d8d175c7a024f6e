"""The numbers of bundled metrics depend neither on the order of episodes and states, the
names of actions and the turns that are left, nor on the unit of rewards.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gde.data.evidence import Evidence
from gde.data.mdp import TabularMDP
from gde.data.observation import State
from gde.data.trajectory import Trajectory, Turn
from gde.offers import MetricOffer
from gde.request.catalogue import Catalogue
from gde.request.settings import build, required_fields
from gde.testing.context import PlainContext
from gde.testing.parts import LEFT, RIGHT
from gde.testing.samples import sample_evidence

PROPORTIONAL = {"efficiency.regret": 1, "meg.known.beta": -1}
"""Numbers in units of reward, with the power of the unit."""

OF_THE_HORIZON = {"references.success.random", "references.spl.random"}
"""Numbers of random play until the horizon."""
WITHOUT_UNIT = {"purchase", "difficulty"}
"""Metrics of worlds whose reward is a share of a wish, or whose value counts steps."""


def offers() -> list[MetricOffer[Any, Any]]:
    found = [entry.offer for entry in Catalogue.default().entries("metric")]
    return [
        offer
        for offer in found
        if isinstance(offer, MetricOffer)
        and not offer.missing()
        and not required_fields(offer.config)
    ]


def numbers(offer: MetricOffer[Any, Any], evidence: Evidence) -> dict[str, float]:
    """The values by name and place; NaN where there is none."""
    metric = offer.made(build(offer.config, {}, offer.name), PlainContext())
    found = {}
    for one in metric(evidence):
        place = f"{one.name} {sorted(one.where.items())}"
        found[place] = math.nan if one.value is None else one.value
    return found


def reversed_episodes(evidence: Evidence) -> Evidence:
    return replace(evidence, trajectories=tuple(reversed(evidence.trajectories)))


def remade(evidence: Evidence, change: Callable[[TabularMDP], TabularMDP]) -> Evidence:
    model = evidence.mdp
    assert model is not None
    made: dict[int, TabularMDP] = {}

    def changed(trajectory: Trajectory) -> TabularMDP:
        # All trajectories of a world get the same object.
        whole = model(trajectory)
        return made.setdefault(id(whole), change(whole))

    return replace(evidence, mdp=changed)


def renumbered_states(evidence: Evidence) -> Evidence:
    """State i becomes `new[i]`, in the models and in the record."""
    new = {0: 2, 1: 0, 2: 4, 3: 1, 4: 3}
    order = sorted(new, key=lambda old: new[old])

    def change(mdp: TabularMDP) -> TabularMDP:
        return replace(
            mdp,
            transition=tuple(each[order][:, order] for each in mdp.transition),
            start=mdp.start[order],
            reward=mdp.reward[order],
            terminal=None if mdp.terminal is None else mdp.terminal[order],
            labels={name: each[order] for name, each in mdp.labels.items()},
        )

    def renumbered(state: State | None) -> State | None:
        if state is None or state.index is None:
            return state
        return replace(state, index=new[state.index])

    trajectories = []
    for one in evidence.trajectories:
        turns = [replace(turn, state=renumbered(turn.state)) for turn in one.turns]
        final = renumbered(one.final_state)
        trajectories.append(replace(one, turns=tuple(turns), final_state=final))
    return replace(remade(evidence, change), trajectories=tuple(trajectories))


def renamed_actions(evidence: Evidence) -> Evidence:
    """Other names of the actions, in another order."""
    new = {LEFT: "west", RIGHT: "east"}

    def change(mdp: TabularMDP) -> TabularMDP:
        names = tuple(new[name] for name in reversed(mdp.actions))
        return replace(mdp, transition=mdp.transition[::-1], actions=names)

    def renamed(turn: Turn) -> Turn:
        assert turn.decision.action and turn.observation.actions and turn.optimal
        listed = tuple(new[name] for name in reversed(turn.observation.actions))
        return replace(
            turn,
            observation=replace(turn.observation, actions=listed),
            decision=replace(turn.decision, action=new[turn.decision.action]),
            optimal=tuple(new[name] for name in turn.optimal),
        )

    trajectories = []
    for one in evidence.trajectories:
        trajectories.append(replace(one, turns=tuple(map(renamed, one.turns))))
    return replace(remade(evidence, change), trajectories=tuple(trajectories))


def later_horizon(evidence: Evidence) -> Evidence:
    """More turns, which episodes that have ended do not need."""
    trajectories = []
    for one in evidence.trajectories:
        trajectories.append(replace(one, horizon=10 * one.horizon))
    return replace(evidence, trajectories=tuple(trajectories))


def of_successes(evidence: Evidence) -> Evidence:
    """The episodes of an agent with more of a goal than the whole sample shows, in
    worlds whose states have a label.
    """
    ended = [one for one in evidence.trajectories if one.ending == "terminated"]

    def change(mdp: TabularMDP) -> TabularMDP:
        return replace(mdp, labels={"cell": np.arange(1.0 * mdp.n_states)})

    return replace(remade(evidence, change), trajectories=tuple(ended))


def in_unit(turn: Turn, unit: float) -> Turn:
    value = None if turn.value is None else turn.value * unit
    return replace(turn, reward=turn.reward * unit, value=value)


def in_units_of(unit: float, evidence: Evidence) -> Evidence:
    def change(mdp: TabularMDP) -> TabularMDP:
        return replace(mdp, reward=mdp.reward * unit)

    trajectories = []
    for one in evidence.trajectories:
        turns = tuple(in_unit(turn, unit) for turn in one.turns)
        trajectories.append(replace(one, turns=turns))
    return replace(remade(evidence, change), trajectories=tuple(trajectories))


EVIDENCE = (sample_evidence(), of_successes(sample_evidence()))


@pytest.mark.parametrize("evidence", EVIDENCE, ids=["all", "successes"])
@pytest.mark.parametrize("offer", offers(), ids=lambda offer: offer.name)
def test_orders_names_and_turns_that_are_left_mean_nothing(
    offer: MetricOffer[Any, Any], evidence: Evidence
) -> None:
    plain = numbers(offer, evidence)
    wanted = pytest.approx(plain, rel=1e-6, nan_ok=True)
    assert numbers(offer, reversed_episodes(evidence)) == wanted
    assert numbers(offer, renumbered_states(evidence)) == wanted
    assert numbers(offer, renamed_actions(evidence)) == wanted
    later = numbers(offer, later_horizon(evidence))
    for place in plain:
        if place.partition(" ")[0] in OF_THE_HORIZON:
            later[place] = plain[place]
    assert later == wanted


@pytest.mark.parametrize("evidence", EVIDENCE, ids=["all", "successes"])
@pytest.mark.parametrize("unit", [1e-10, 1e6])
@pytest.mark.parametrize("offer", offers(), ids=lambda offer: offer.name)
def test_the_unit_of_rewards_means_nothing(
    offer: MetricOffer[Any, Any], unit: float, evidence: Evidence
) -> None:
    if offer.name in WITHOUT_UNIT:
        pytest.skip("its reward has no unit")
    wanted = numbers(offer, evidence)
    for place in wanted:
        wanted[place] *= unit ** PROPORTIONAL.get(place.partition(" ")[0], 0)
    found = numbers(offer, in_units_of(unit, evidence))
    assert found == pytest.approx(wanted, rel=1e-6, abs=0, nan_ok=True)
