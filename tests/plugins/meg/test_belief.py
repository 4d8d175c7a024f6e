"""Goal-directedness towards decoded goals."""

from dataclasses import replace

import numpy as np
import pytest
from sampled import grids, recorded, sample

from gde.data.cell_map import KINDS, decoded_classes
from gde.data.evidence import Evidence
from gde.data.mdp import Floats, TabularMDP
from gde.data.probe import Arm, ProbeReport
from gde.data.result import Measurement
from gde.data.trajectory import Decision
from gde.testing import check_metric
from gde_plugins.meg import soft_policy
from gde_plugins.meg.metrics.belief import belief
from gde_plugins.meg.trajectories.candidates import standing_still
from gde_plugins.meg.trajectories.episodes import Episode

CLASSES = decoded_classes(KINDS)
EMPTY, AGENT, GOAL, WALL, PAD = range(5)

HORIZON, SIZE = 10, 9


def run(mistaken: bool, decoded: str, size: int = SIZE, n: int = 30) -> Evidence:
    """An agent that is after the goal, or after another cell that it takes for the goal, and a probe of its beliefs."""
    episodes: list[Episode] = []
    rows, maps = [], []
    for i, mdp in enumerate(grids(n)):
        wrong, right = mdp.labels["key"], mdp.labels["goal"]
        policy = soft_policy(standing_still(mdp, wrong if mistaken else right), 3.0, HORIZON)
        (episode,) = sample(mdp, policy, 1, np.random.default_rng(i), HORIZON, decisions=HORIZON - 1)
        episodes.append(replace(episode, cluster=str(i)))
        shown = {"wrong": wrong, "right": right, "nothing": np.zeros(mdp.n_states)}[decoded]
        for turn in range(len(episode.states)):
            rows.append((f"0/{i}/0", turn))
            maps.append(picture(mdp, shown, size))
    arm = Arm(probe="cogmap", variant="mlp", layer=2, mark="pre")
    report = ProbeReport(
        arm=arm, measurements=(), n_train=1, n_test=len(rows), rows=tuple(rows), decoded=np.stack(maps), classes=CLASSES
    )
    return replace(recorded(episodes), probe_reports=(report,))


def picture(mdp: TabularMDP, goal: Floats, size: int) -> np.ndarray:
    decoded = np.zeros((size, size, len(CLASSES)), dtype=np.float32)
    places = mdp.labels["row"].astype(int) % size, mdp.labels["column"].astype(int) % size
    decoded[..., EMPTY] = 1.0
    decoded[(*places, GOAL)] = goal
    return decoded


def named(evidence: Evidence) -> dict[str, Measurement]:
    return {str(each.where.get("utility", each.name)): each for each in belief(evidence)}


def test_an_agent_that_is_mistaken_is_directed_towards_what_it_believes() -> None:
    measured = named(run(mistaken=True, decoded="wrong"))
    assert (measured["believed"].value or 0) > 0.5 > (measured["true"].value or 0)
    gain = measured["meg.belief.gain"]
    assert gain.interval is not None
    assert gain.interval[0] > 0
    assert gain.where == {"probe": "cogmap", "variant": "mlp", "layer": 2, "mark": "pre"}


def test_beliefs_that_are_the_truth_gain_nothing() -> None:
    measured = named(run(mistaken=False, decoded="right"))
    assert measured["believed"].value == pytest.approx(measured["true"].value)
    assert measured["meg.belief.gain"].value == pytest.approx(0, abs=1e-6)
    assert measured["true"].n == measured["meg.belief.gain"].n > 50


def test_a_probe_that_decodes_no_goal_is_no_evidence_of_a_belief() -> None:
    measured = named(run(mistaken=False, decoded="nothing"))
    assert measured["believed"].value == pytest.approx(0, abs=1e-9)
    assert (measured["meg.belief.gain"].value or 0) < -0.5


def test_turns_without_any_action_are_no_evidence_of_a_belief() -> None:
    evidence = run(mistaken=False, decoded="right", n=3)
    mute = Decision.unusable("unparsable", "wanted an action")
    silent = tuple(
        replace(one, turns=tuple(replace(turn, decision=mute) for turn in one.turns)) for one in evidence.trajectories
    )
    measured = belief(replace(evidence, trajectories=silent))
    assert [each.name for each in measured] == ["meg.belief", "meg.belief", "meg.belief.gain"]
    assert all(each.reason.endswith("decisions names an action") for each in measured)


def test_strata_have_no_numbers_and_what_is_missing_is_said() -> None:
    evidence = run(mistaken=False, decoded="right", n=3)
    assert belief(replace(evidence, part={"size": 7})) == ()
    assert [one.reason for one in belief(replace(evidence, probe_reports=()))] == [
        "no probe decoded maps; choose --probe cogmap"
    ]
    assert [one.reason for one in belief(replace(evidence, trajectories=()))] == [
        "no held-out turn is of an episode that was finished"
    ]
    (small,) = belief(run(mistaken=False, decoded="right", size=4, n=3))
    assert small.reason == "the world of episode 0/0/0 is larger than the decoded map of 4 rows"


def test_controls_are_no_beliefs() -> None:
    evidence = run(mistaken=False, decoded="right", n=3)
    (report,) = evidence.probe_reports
    shuffled = replace(report, arm=replace(report.arm, control="shuffled"))
    assert belief(replace(evidence, probe_reports=(report, shuffled))) == belief(evidence)


def test_the_metric_keeps_its_promises() -> None:
    check_metric(lambda: belief, run(mistaken=False, decoded="right", n=4))
    check_metric(lambda: belief)
