"""Actions against decoded maps: a map that is true changes nothing, a map that is false
explains what it explains.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from gde import Choice, Evidence, Plan, evaluate, load_evidence
from gde.data.cell_map import KINDS, decoded_classes
from gde.data.probe import Fit, ProbeReport
from gde.data.result import Measurement
from gde_plugins.probes.distance.from_maps import steps
from gde_plugins.probes.maps.beliefs import beliefs
from gde_plugins.probes.maps.first_turns import maps
from gde_plugins.probes.maps.held_out import true_map
from gde_plugins.probes.maps.policies import Believed

CLASSES = decoded_classes(KINDS)
EMPTY, AGENT, GOAL, WALL, PAD = range(5)
SIZE = 11
FIT = Fit(probe="cogmap", variant="mlp", layer=0, position="pre")


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    plan = Plan(
        environment=Choice(name="grid", config={"size": [7, 9], "density": 0.6}),
        agent=Choice(name="noisy", config={"p": 0.4}),
        metrics=(Choice(name="success"),),
        episodes=12,
    )
    folder = tmp_path_factory.mktemp("walked") / "run"
    evaluate(plan, folder)
    return load_evidence(Path(folder))


def decoding(evidence: Evidence, change: str = "none", n: int = 16) -> Evidence:
    """The last n episodes with their true maps as decoded, or with agent and goal
    exchanged in all of them.
    """
    held_out = evidence.trajectories[-n:]
    rows = [(str(one.key), turn.index) for one in held_out for turn in one.turns]
    cells = np.array(
        [true_map(one, turn, SIZE) for one in held_out for turn in one.turns]
    )
    if change == "exchanged":
        cells = np.choose(cells, [EMPTY, GOAL, AGENT, WALL, PAD])
    decoded: NDArray[np.float32] = np.eye(len(CLASSES), dtype=np.float32)[cells]
    report = ProbeReport(
        fit=FIT,
        measurements=(),
        n_train=1,
        n_test=len(rows),
        rows=tuple(rows),
        decoded=decoded,
        classes=CLASSES,
    )
    return replace(
        evidence,
        probe_reports=(report, replace(report, fit=replace(FIT, control="shuffled"))),
    )


def whole(found: list[Measurement]) -> Mapping[str, Measurement]:
    return {
        one.name: one
        for one in found
        if one.where.get("fit") == "none" and "size" not in one.where
    }


def test_optimal_actions_on_true_maps_are_the_certified_ones(walked: Evidence) -> None:
    for one in walked.trajectories:
        cells = np.array([true_map(one, turn, SIZE) for turn in one.turns])
        believed = Believed.likeliest(
            np.eye(len(CLASSES), dtype=np.float32)[cells], CLASSES
        )
        moves = {
            name: (move[0], move[1]) for name, move in one.world.facts["moves"].items()
        }  # type: ignore[union-attr,index]
        for turn, found in zip(one.turns, believed.optimal(moves), strict=True):
            assert {
                name for name, best in zip(moves, found, strict=True) if best
            } == set(turn.optimal or ())


def test_a_true_map_leaves_nothing_to_recover(walked: Evidence) -> None:
    found = whole([*beliefs(decoding(walked))])
    assert (
        found["beliefs.accuracy.decoded"].value == found["beliefs.accuracy.true"].value
    )
    assert found["beliefs.agreement"].value == found["beliefs.accuracy.true"].value
    assert found["beliefs.recovery"].value == 0
    assert (
        found["beliefs.agreement.released"].value
        == found["beliefs.recovery.released"].value
        == 1
    )
    assert found["beliefs.expected"].value == pytest.approx(
        found["beliefs.accuracy.true"].value
    )
    assert found["beliefs.spread.agent"].value == 0


def test_steps_are_lost_where_the_decoded_map_misleads(walked: Evidence) -> None:
    evidence = decoding(walked)
    (report, control) = evidence.probe_reports
    played = {str(one.key): one for one in walked.trajectories}
    erred = []
    for episode, index in report.rows:
        turn = played[episode].turns[index]
        erred.append(turn.decision.action not in (turn.optimal or ()))

    # A map of walls, with agent and goal in opposite corners.
    cells = np.full((SIZE, SIZE), WALL)
    cells[0, 0], cells[-1, -1] = AGENT, GOAL
    walled = np.eye(len(CLASSES), dtype=np.float32)[cells]
    misled = report.decoded.copy()
    misled[np.array(erred)] = walled
    reports = (replace(report, decoded=misled), control)
    found = whole([*beliefs(replace(evidence, probe_reports=reports))])
    assert found["beliefs.regret.right"].value == 0
    # A lost step is one that stays, or two for one that leads away.
    assert 1 <= (found["beliefs.regret.wrong"].value or 0) <= 2
    difference = found["beliefs.regret.difference"]
    assert difference.interval is not None
    assert difference.interval[0] >= 1

    # Maps that are always right leave nothing to compare, as do those of a control.
    plain = whole([*beliefs(evidence)])
    assert plain["beliefs.regret.difference"].value is None
    assert plain["beliefs.regret.right"].value


def test_recovery_is_of_actions_and_in_the_released_code_of_turns(
    walked: Evidence,
) -> None:
    evidence = decoding(walked, "exchanged")
    found = whole([*beliefs(evidence)])
    (report, _) = evidence.probe_reports
    played = {str(one.key): one for one in walked.trajectories}
    shares: dict[str, list[tuple[bool, bool]]] = {}
    for (episode, index), decoded in zip(report.rows, report.decoded, strict=True):
        turn, moves = (
            played[episode].turns[index],
            {"UP": (-1, 0), "DOWN": (1, 0), "LEFT": (0, -1), "RIGHT": (0, 1)},
        )
        best = Believed.likeliest(decoded[None], CLASSES).optimal(moves)[0]
        names = {name for name, optimal in zip(moves, best, strict=True) if optimal}
        if names and turn.decision.action not in (turn.optimal or ()):
            pair = turn.decision.action in names, bool(names & set(turn.optimal or ()))
            shares.setdefault(episode, []).append(pair)
    means = np.mean([np.mean(pairs, axis=0) for pairs in shares.values()], axis=0)
    assert found["beliefs.recovery"].value == pytest.approx(means[0])
    assert found["beliefs.recovery.released"].value == pytest.approx(means[1])
    assert (found["beliefs.accuracy.decoded"].value or 1) < (
        found["beliefs.accuracy.true"].value or 0
    )
    assert (found["beliefs.spread.agent"].value or 0) > 1


def test_controls_and_sizes_are_told_apart(walked: Evidence) -> None:
    found = beliefs(decoding(walked))
    assert {one.where["fit"] for one in found} == {"none", "shuffled"}
    assert {one.where["size"] for one in found if "size" in one.where} == {7, 9}
    assert not beliefs(replace(decoding(walked), part={"size": 7}))


def test_sampled_maps_follow_the_decoded_probabilities() -> None:
    decoded = np.zeros((4000, 3, 3, len(CLASSES)), dtype=np.float32)
    decoded[..., EMPTY], decoded[..., WALL] = 0.75, 0.25
    decoded[:, 0, 0] = decoded[:, 0, 2] = 0
    decoded[:, 0, 0, AGENT], decoded[:, 0, 2, AGENT], decoded[:, 2, 2, GOAL] = (
        0.6,
        0.2,
        0.5,
    )
    believed = Believed.sampled(decoded, CLASSES, np.random.default_rng(0))
    assert (believed.agent == (0, 0)).all(axis=1).mean() == pytest.approx(
        0.75, abs=0.03
    )
    assert (believed.goal == (2, 2)).all()
    assert (~believed.free[:, 1, 1]).mean() == pytest.approx(0.25, abs=0.03)


def test_first_maps_are_first_turns_on_the_true_grid(walked: Evidence) -> None:
    evidence = decoding(walked)
    (report, _) = evidence.probe_reports
    first = np.array([turn == 0 for _, turn in report.rows])
    blurred = np.where(first[:, None, None, None], report.decoded * 0.4, 0).astype(
        np.float32
    )
    blurred[..., PAD] += 0.6
    evidence = replace(evidence, probe_reports=(replace(report, decoded=blurred),))
    found = whole([*maps(evidence)])
    assert (
        found["maps.accuracy"].value
        == found["maps.recall.wall"].value
        == found["maps.top1.goal"].value
        == 1
    )
    assert found["maps.accuracy"].n == first.sum()
    held_out = {one.world.cluster for one in walked.trajectories[-16:]}
    assert found["maps.worlds"].value == len(
        {one.world.cluster for one in walked.trajectories} - held_out
    )


def test_first_maps_are_tested_against_the_control_task(walked: Evidence) -> None:
    evidence = decoding(walked)
    report, control = evidence.probe_reports
    exchanged, _ = decoding(walked, "exchanged").probe_reports
    others = replace(
        control, decoded=exchanged.decoded, further=(exchanged.decoded,) * 4
    )
    found = whole([*maps(replace(evidence, probe_reports=(report, others)))])
    verdict = found["maps.top1.goal"].verdict
    assert verdict is not None and verdict.control == "shuffled"
    assert verdict.outcome == "better" and verdict.difference == 1


@pytest.mark.parametrize("lacking", ["agent", "goal"])
def test_scores_of_first_maps_have_a_reason_for_what_was_never_trained_on(
    walked: Evidence, lacking: str
) -> None:
    evidence = decoding(walked)
    reports = []
    for report in evidence.probe_reports:
        unknown = report.decoded.copy()
        unknown[..., CLASSES.index(lacking)] = 0
        reports.append(replace(report, decoded=unknown))
    evidence = replace(evidence, probe_reports=tuple(reports))
    reason = f"no {lacking} cell in the grids that were trained on"
    of_maps = maps(evidence)
    asked = [one for one in of_maps if one.name.endswith(f".{lacking}")]
    scores = {one.name.split(".")[1] for one in asked}
    assert scores == {
        "recall",
        "precision",
        "top1",
        "distance",
        "spread",
    }
    assert {(one.value, one.reason) for one in asked} == {(None, reason)}
    assert {one.value for one in of_maps if one.name == "maps.recall.wall"} == {1.0}


def test_steps_are_told_from_where_the_map_has_agent_and_goal(walked: Evidence) -> None:
    evidence = decoding(walked, n=12)
    report, _ = evidence.probe_reports
    true, lost = (
        {
            one.name: one
            for one in steps(
                replace(evidence, probe_reports=(replace(report, decoded=decoded),))
            )
        }
        for decoded in (report.decoded, np.roll(report.decoded, 3, axis=0))
    )
    assert (true["steps.r2"].value or 0) > 0.3 > (lost["steps.r2"].value or 0)
    assert (true["steps.mae"].value or 9) < (lost["steps.mae"].value or 0)
    (nobody, _) = steps(
        replace(
            evidence, trajectories=evidence.trajectories[-12:], probe_reports=(report,)
        )
    )
    assert nobody.reason == "no other world was played"


@pytest.mark.parametrize("code", [AGENT, GOAL])
def test_what_was_never_trained_on_is_nowhere_and_no_step_is_told_from_it(
    walked: Evidence, code: int
) -> None:
    evidence = decoding(walked, n=12)
    report, _ = evidence.probe_reports
    decoded = report.decoded.copy()
    decoded[..., code] = 0
    evidence = replace(evidence, probe_reports=(replace(report, decoded=decoded),))
    told = {
        one.name: one
        for one in (*steps(evidence), *beliefs(evidence))
        if "size" not in one.where
    }
    kept = {"beliefs.accuracy.true", f"beliefs.spread.{CLASSES[AGENT + GOAL - code]}"}
    assert {name for name, one in told.items() if one.value is not None} == kept
    reason = f"no {CLASSES[code]} cell in the grids that were trained on"
    assert {
        one.reason
        for name, one in told.items()
        if name not in kept and "spread" not in name
    } == {reason}


def test_without_decoded_maps_there_is_a_reason(walked: Evidence) -> None:
    for metric in (maps, beliefs, steps):
        (nothing, *_) = metric(walked)
        assert nothing.reason == "no probe decoded maps; add the probe cogmap"
