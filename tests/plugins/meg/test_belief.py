"""Goal-directedness towards decoded goals."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from sampled import grids, recorded, sample
from scipy.stats import binom

from gde.data.cell_map import KINDS, decoded_classes
from gde.data.evidence import Evidence
from gde.data.mdp import Floats, Policy, TabularMDP
from gde.data.probe import Fit, ProbeReport
from gde.data.result import Measurement
from gde.data.trajectory import Decision, Turn
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


def picture(mdp: TabularMDP, goal: Floats, size: int) -> np.ndarray:
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
    gain = measured["meg.belief.gain"]
    assert gain.interval is not None
    assert gain.interval[0] > 0
    assert gain.where == {
        "probe": "cogmap",
        "variant": "mlp",
        "layer": 2,
        "position": "pre",
        "control": "none",
    }


NOWHERE = "decoded and true goal differ in the turns of fewer than 2 worlds"


def test_beliefs_that_are_the_truth_say_nothing_of_acting_on_them() -> None:
    measured = named(run(mistaken=False, decoded="right"))
    assert measured["believed"].value == pytest.approx(measured["true"].value)
    assert measured["meg.belief.gain"].reason == NOWHERE


def test_a_probe_that_decodes_no_goal_is_no_evidence_of_a_belief() -> None:
    measured = named(run(mistaken=False, decoded="nothing"))
    assert measured["believed"].value == pytest.approx(0, abs=1e-9)
    assert measured["meg.belief.gain"].reason == NOWHERE


def test_a_belief_that_the_agent_does_not_act_on_loses() -> None:
    gain = named(run(mistaken=False, decoded="wrong"))["meg.belief.gain"]
    assert gain.interval is not None
    assert gain.interval[1] < 0


def sharpened(
    evidence: Evidence, sharp: Callable[[Turn], bool], wrong: float, seed: int
) -> Evidence:
    """Maps whose mode is the true goal, sharp in some turns and blurred in others; a
    wrong cell now and then.
    """
    (report,), rng = evidence.probe_reports, np.random.default_rng(seed)
    turns = {
        (str(one.key), turn.index): turn
        for one in evidence.trajectories
        for turn in one.turns
    }
    decoded = report.decoded.copy()
    for place, row in zip(decoded, report.rows, strict=True):
        blur = 0.02 if sharp(turns[row]) else 0.5
        goal = place[..., GOAL]
        if rng.random() < wrong:
            goal[:] = rng.permutation(goal.ravel()).reshape(goal.shape)
        place[..., GOAL] = (1 - blur) * goal + blur * rng.random(goal.shape) / 2
    return replace(evidence, probe_reports=(replace(report, decoded=decoded),))


def test_a_probe_that_is_sharp_where_the_agent_is_able_gains_nothing() -> None:
    """Once said to be evidence of belief: the decoded goal is the true one, or a random
    cell, whatever is done.
    """
    gains = []
    for seed in range(5):
        evidence = sharpened(
            run(mistaken=False, decoded="right", n=12), competent, 0.3, seed
        )
        gain = named(evidence)["meg.belief.gain"]
        assert gain.value is not None
        gains.append(gain.value)
    assert max(gains) < 0.05


def competent(turn: Turn) -> bool:
    """Whether an agent that errs at random does well here."""
    return turn.index % 2 == 0


def goal_blind(decoder: str, seed: int, n: int = 12) -> Evidence:
    """An agent that moves at random, and a decoder that reads the chosen move, the cell
    ahead or nothing of its beliefs.
    """
    rng = np.random.default_rng(seed)
    episodes: list[Episode] = []
    rows, maps = [], []
    for i, mdp in enumerate(grids(n)):
        (episode,) = sample(mdp, uniform(mdp), 1, rng, HORIZON, decisions=HORIZON - 1)
        episodes.append(replace(episode, cluster=str(i)))
        arbitrary = int(rng.integers(mdp.n_states))
        for turn, (state, action) in enumerate(
            zip(episode.states, episode.actions, strict=True)
        ):
            ahead = mdp.transition[action].indices
            read = {
                "move": ahead[ahead[ahead[state]]],
                "ahead": ahead[state],
                "nothing": arbitrary,
            }[decoder]
            rows.append((f"0/{i}/0", turn))
            maps.append(picture(mdp, np.eye(mdp.n_states)[read], SIZE))
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


def uniform(mdp: TabularMDP) -> Policy:
    shape = (HORIZON, mdp.n_states, mdp.n_actions)
    return Policy(probabilities=np.full(shape, 1 / mdp.n_actions))


DECODERS = ("move", "ahead", "nothing")


@pytest.mark.parametrize("decoder", DECODERS)
def test_what_a_decoder_reads_is_no_belief_of_a_random_agent(
    decoder: str,
) -> None:
    """A map compared with the decision that it was read at would predict it, by up to
    20 nats.
    """
    gain = named(goal_blind(decoder, seed=1))["meg.belief.gain"]
    assert gain.value is not None
    assert gain.value < 0.02
    assert gain.interval is not None
    assert gain.interval[0] <= 0


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("decoder", DECODERS)
def test_a_random_agent_has_a_belief_in_few_runs(decoder: str) -> None:
    """Of 95 % intervals, 2.5 % may lie above zero."""
    runs = 60
    found = 0
    for seed in range(runs):
        gain = named(goal_blind(decoder, seed))["meg.belief.gain"]
        assert gain.interval is not None
        found += gain.interval[0] > 0
    assert found <= binom.ppf(0.999, runs, 0.025)


def test_no_decision_gains_more_than_it_can_hold() -> None:
    """Whoever acts on a belief gains less than ln |A|, and whoever acts on the truth
    loses no more than a coin toss.
    """
    for mistaken in (True, False):
        gain = named(run(mistaken, decoded="wrong", n=10))["meg.belief.gain"]
        assert gain.value is not None
        assert -np.log(2) <= gain.value <= np.log(4)
        assert (gain.value > 0) == mistaken


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
        "meg.belief.gain",
    ]
    swapped, *others, _ = measured
    assert swapped.reason == "no environment is known that could be begun again"
    assert all(each.reason.endswith("decisions names an action") for each in others)


def test_conditions_have_no_numbers_and_what_is_missing_is_said() -> None:
    evidence = run(mistaken=False, decoded="right", n=3)
    assert belief(replace(evidence, part={"size": 7})) == ()
    assert [one.reason for one in belief(replace(evidence, probe_reports=()))] == [
        "no probe decoded maps; choose --probe cogmap"
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
    *own, towards, gain = belief(replace(evidence, probe_reports=(report, shuffled)))
    assert own == belief(evidence)
    assert [towards.name, gain.name] == ["meg.belief.control", "meg.belief.gain"]
    assert towards.where["control"] == gain.where["control"] == "shuffled"
    assert (gain.value or 0) < (own[-1].value or 0)
    believed = [one for one in own if one.where.get("utility") == "believed"]
    assert (towards.value or 0) < (believed[0].value or 0)


def test_the_metric_keeps_its_promises() -> None:
    check_metric(lambda: belief, run(mistaken=False, decoded="right", n=4))
    check_metric(lambda: belief)
