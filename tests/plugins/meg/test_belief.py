"""Goal-directedness towards decoded goals."""

from dataclasses import replace

import numpy as np
import pytest
from sampled import grids, recorded, sample

from gde.data.arrays import Doubles
from gde.data.cell_map import KINDS, decoded_classes
from gde.data.evidence import Evidence
from gde.data.mdp import TabularMDP
from gde.data.probe import Fit, ProbeReport
from gde.data.result import Measurement
from gde.data.trajectory import Decision
from gde.testing import check_metric
from gde_plugins.meg import soft_policy
from gde_plugins.meg.metrics.belief import belief
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.trajectories.utilities import standing_still

CLASSES = decoded_classes(KINDS)
EMPTY, AGENT, GOAL, WALL, PAD = range(5)

HORIZON, SIZE = 10, 9


def run(mistaken: bool, decoded: str, size: int = SIZE, n: int = 30) -> Evidence:
    """An agent that is after the goal, or after another cell that it takes for the
    goal, and a probe of its beliefs.
    """
    episodes: list[Episode] = []
    rows, maps = [], []
    for i, mdp in enumerate(grids(n)):
        wrong, right = mdp.labels["key"], mdp.labels["goal"]
        policy = soft_policy(
            standing_still(mdp, wrong if mistaken else right), 3.0, HORIZON
        )
        (episode,) = sample(
            mdp, policy, 1, np.random.default_rng(i), HORIZON, decisions=HORIZON - 1
        )
        episodes.append(replace(episode, cluster=str(i)))
        shown = {"wrong": wrong, "right": right, "nothing": np.zeros(mdp.n_states)}[
            decoded
        ]
        for turn in range(len(episode.states)):
            rows.append((f"0/{i}/0", turn))
            maps.append(picture(mdp, shown, size))
    fit = Fit(probe="cogmap", variant="mlp", layer=2, position="pre")
    report = ProbeReport(
        fit=fit,
        measurements=(),
        n_train=1,
        n_test=len(rows),
        rows=tuple(rows),
        decoded=np.stack(maps),
        classes=CLASSES,
    )
    return replace(recorded(episodes), probe_reports=(report,))


def picture(mdp: TabularMDP, goal: Doubles, size: int) -> np.ndarray:
    decoded = np.zeros((size, size, len(CLASSES)), dtype=np.float32)
    places = (
        mdp.labels["row"].astype(int) % size,
        mdp.labels["column"].astype(int) % size,
    )
    decoded[..., EMPTY] = 1.0
    decoded[(*places, GOAL)] = goal
    return decoded


def named(evidence: Evidence) -> dict[str, Measurement]:
    return {
        str(each.where.get("utility", each.name)): each for each in belief(evidence)
    }


def test_an_agent_that_is_mistaken_is_directed_towards_what_it_believes() -> None:
    measured = named(run(mistaken=True, decoded="wrong"))
    assert (measured["believed"].value or 0) > 0.5 > (measured["true"].value or 0)


def test_beliefs_that_are_the_truth_say_nothing_of_acting_on_them() -> None:
    measured = named(run(mistaken=False, decoded="right"))
    assert measured["believed"].value == pytest.approx(measured["true"].value)


def test_a_probe_that_decodes_no_goal_is_no_evidence_of_a_belief() -> None:
    measured = named(run(mistaken=False, decoded="nothing"))
    assert measured["believed"].value == pytest.approx(0, abs=1e-9)


def test_turns_without_any_action_are_no_evidence_of_a_belief() -> None:
    evidence = run(mistaken=False, decoded="right", n=3)
    mute = Decision.unusable("unparsable", "wanted an action")
    silent = tuple(
        replace(one, turns=tuple(replace(turn, decision=mute) for turn in one.turns))
        for one in evidence.trajectories
    )
    measured = belief(replace(evidence, trajectories=silent))
    assert [each.name for each in measured] == [
        "meg.belief",
        "meg.belief",
        "meg.belief",
    ]
    swapped, *others = measured
    assert swapped.reason == "no environment is known that could be begun again"
    assert all(each.reason.endswith("decisions names an action") for each in others)


def test_conditions_have_no_numbers_and_what_is_missing_is_said() -> None:
    evidence = run(mistaken=False, decoded="right", n=3)
    assert belief(replace(evidence, part={"size": 7})) == ()
    assert [one.reason for one in belief(replace(evidence, probe_reports=()))] == [
        "no probe decoded maps; add the probe cogmap"
    ]
    assert [one.reason for one in belief(replace(evidence, trajectories=()))] == [
        "no held-out turn is followed by a decision of an episode that was finished"
    ]
    (small,) = belief(run(mistaken=False, decoded="right", size=4, n=3))
    assert (
        small.reason
        == "the world of episode 0/1/0 is larger than the decoded map of 4 rows"
    )


def test_controls_are_measured_beside() -> None:
    evidence = run(mistaken=True, decoded="wrong", n=10)
    (report,) = evidence.probe_reports
    arbitrary = np.random.default_rng(0).random(report.decoded.shape).astype(np.float32)
    shuffled = replace(
        report, fit=replace(report.fit, control="shuffled"), decoded=arbitrary
    )
    *own, towards = belief(replace(evidence, probe_reports=(report, shuffled)))
    assert own == belief(evidence)
    assert towards.name == "meg.belief.control"
    assert towards.where["control"] == "shuffled"
    believed = [one for one in own if one.where.get("utility") == "believed"]
    assert (towards.value or 0) < (believed[0].value or 0)


def test_the_metric_keeps_its_promises() -> None:
    check_metric(lambda: belief, run(mistaken=False, decoded="right", n=4))
    check_metric(lambda: belief)
