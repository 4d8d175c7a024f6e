"""Decoded places after a perturbation: a probe that follows the truth has updated, one
that shows the map of before has not.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import t as student

from gde import Choice, Evidence, Plan, evaluate, load_evidence
from gde.data.cell_map import KINDS, decoded_classes
from gde.data.json import Json
from gde.data.probe import Fit, ProbeReport
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.data.verdict import Verdict
from gde_plugins.probes.maps.held_out import true_map
from gde_plugins.probes.maps.updates import updates

CLASSES = decoded_classes(KINDS)
SIZE = 7
ERROR = np.sqrt(0.2 * (1 + 1 / 5))
"""Of a further initialisation from the mean of five, of which one is right everywhere
and the others nowhere.
"""
FIT = Fit(probe="cogmap", variant="mlp", layer=0, position="pre")
Believes = Callable[[Trajectory, int], NDArray[np.int64]]
"""The map that a planted probe decodes in a turn of an episode."""


def walked(folder: Path, perturbations: list[str], episodes: int) -> Evidence:
    """Optimal walks on one and the same grids without and with perturbations."""
    config: dict[str, Json] = {
        "size": SIZE,
        "density": 0.3,
        "min_distance": 5,
        "perturbation": [*perturbations],
        "perturbation_turn": 2,
    }
    plan = Plan(
        environment=Choice(name="grid", config=config),
        agent=Choice(name="optimal"),
        metrics=(Choice(name="success"),),
        episodes=episodes,
    )
    evaluate(plan, folder)
    return load_evidence(folder)


@pytest.fixture(scope="module")
def perturbed(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    folder = tmp_path_factory.mktemp("perturbed") / "run"
    return walked(folder, ["none", "move_goal", "put_back"], 10)


def truth(trajectory: Trajectory, index: int) -> NDArray[np.int64]:
    return true_map(trajectory, trajectory.turns[index], SIZE)


def stale(trajectory: Trajectory, index: int) -> NDArray[np.int64]:
    """The map of the last turn before the perturbation, from then on."""
    if trajectory.world.facts.get("perturbation"):
        index = min(index, 1)
    return truth(trajectory, index)


def nowhere(trajectory: Trajectory, index: int) -> NDArray[np.int64]:
    """Agent and goal in the corner, which is a wall."""
    cells = truth(trajectory, index)
    cells[0, 0] = CLASSES.index("goal")
    cells[cells == CLASSES.index("agent")] = CLASSES.index("empty")
    cells[cells == CLASSES.index("goal")] = CLASSES.index("agent")
    cells[0, 0] = CLASSES.index("goal")
    return cells


def decoding(evidence: Evidence, **believes: Believes | Sequence[Believes]) -> Evidence:
    """The evidence with a report of all turns for each control, of one fit or several."""
    reports = []
    for control, given in believes.items():
        turns = [(one, turn) for one in evidence.trajectories for turn in one.turns]
        rows = [(str(one.key), turn.index) for one, turn in turns]
        decoded = []
        for of_turn in [given] if callable(given) else given:
            maps = [of_turn(one, turn.index) for one, turn in turns]
            decoded.append(np.eye(len(CLASSES), dtype=np.float32)[np.array(maps)])
        report = ProbeReport(
            fit=replace(FIT, control=control),  # type: ignore[arg-type]
            measurements=(),
            n_train=1,
            n_test=len(rows),
            rows=tuple(rows),
            decoded=decoded[0],
            further=tuple(decoded[1:]),
            classes=CLASSES,
        )
        reports.append(report)
    return replace(evidence, probe_reports=tuple(reports))


def found(
    evidence: Evidence, perturbation: str, since: str = "", fit: str = "none"
) -> Mapping[str, Measurement]:
    named = {}
    for one in updates(evidence):
        kind = one.where.get("perturbation") == perturbation
        late = one.where.get("since", "") == since
        if kind and late and one.where["fit"] == fit:
            named[one.name] = one
    return named


@pytest.mark.parametrize("perturbation", ["move_goal", "put_back"])
@pytest.mark.parametrize("since", ["1", "2", "3+"])
def test_a_true_map_is_an_updated_one(
    perturbed: Evidence, perturbation: str, since: str
) -> None:
    evidence = decoding(perturbed, none=truth)
    (before,) = found(evidence, perturbation).values()
    assert (before.name, before.value, before.n) == ("updates.before", 1, 10)
    after = found(evidence, perturbation, since)
    assert after["updates.new"].value == after["updates.unperturbed"].value == 1
    assert after["updates.old"].value == after["updates.elsewhere"].value == 0
    assert after["updates.change"].value == 0


def test_shares_have_an_interval_over_worlds(perturbed: Evidence) -> None:
    after = found(decoding(perturbed, none=truth), "move_goal", "1")
    assert after["updates.new"].clusters == 10
    # Ten worlds without a miss show a share well above one half, and not 1.
    low, high = after["updates.new"].interval or (0, 0)
    assert 0.6 < low < high == 1


@pytest.mark.parametrize("perturbation", ["move_goal", "put_back"])
def test_the_map_of_before_shows_the_old_place(
    perturbed: Evidence, perturbation: str
) -> None:
    evidence = decoding(perturbed, none=stale)
    assert found(evidence, perturbation)["updates.before"].value == 1
    after = found(evidence, perturbation, "1")
    assert after["updates.old"].value == 1
    assert after["updates.new"].value == after["updates.elsewhere"].value == 0
    assert after["updates.change"].value == -1
    assert after["updates.unperturbed"].value == 1


def test_a_place_that_is_neither_new_nor_old_is_elsewhere(perturbed: Evidence) -> None:
    after = found(decoding(perturbed, none=nowhere), "move_goal", "1")
    assert after["updates.elsewhere"].value == 1
    assert after["updates.new"].value == after["updates.old"].value == 0


def test_turns_with_the_agent_at_its_old_place_again_are_left_out(
    perturbed: Evidence,
) -> None:
    """There, the map of before is right about the agent, and shows no update."""
    after = found(decoding(perturbed, none=stale), "put_back", "2")
    assert after["updates.new"].value == 0
    n_late = 0
    for one in perturbed.trajectories:
        if one.world.facts.get("perturbation") == "put_back":
            n_late += len(one.turns) > 3
    # Put back after two steps, an optimal walk stands at its old place, one step from
    # its start, in the second turn, unless it goes another shortest way.
    assert 0 < after["updates.new"].n < n_late


def right_in(*worlds: int) -> Believes:
    """The true map in these worlds, and that of before in all others."""

    def believed(trajectory: Trajectory, index: int) -> NDArray[np.int64]:
        is_right = trajectory.key.world in worlds
        return (truth if is_right else stale)(trajectory, index)

    return believed


def verdict(numbers: dict[str, Measurement]) -> Verdict:
    """Of the thing at its new place."""
    found = numbers["updates.new"].verdict
    assert found is not None
    return found


def test_random_weights_are_compared_in_the_same_worlds(perturbed: Evidence) -> None:
    """Each of five initialisations is right in a world of its own of ten, so that their
    mean is right in .2 of five worlds.
    """
    evidence = decoding(
        perturbed, none=truth, untrained=[right_in(i) for i in range(5)]
    )
    after = found(evidence, "move_goal", "1")
    assert verdict(after).difference == pytest.approx(0.9)
    # Differences of .8 and 1, equally many, have this standard error.
    half = student.ppf(0.975, 9) * 0.1 / 3
    assert verdict(after).interval == pytest.approx((0.9 - half, 0.9 + half))
    for since in ("1", "2"):
        p_value = verdict(found(evidence, "move_goal", since)).p
        assert p_value is not None and p_value < 0.02
    weights = found(evidence, "move_goal", "1", "untrained")
    assert weights["updates.new"].value == pytest.approx(0.1)
    assert weights["updates.new"].verdict == verdict(found(evidence, "move_goal", "1"))


def test_all_initialisations_of_random_weights_are_compared(
    perturbed: Evidence,
) -> None:
    one_true = decoding(perturbed, none=truth, untrained=[truth, *[stale] * 4])
    all_stale = decoding(perturbed, none=truth, untrained=[right_in(0), *[stale] * 4])
    unlike, alike = (found(each, "move_goal", "1") for each in (one_true, all_stale))
    assert verdict(unlike).difference == pytest.approx(4 / 5)
    assert verdict(alike).difference == pytest.approx(1 - 0.1 / 5)

    # The variance between initialisations is in the interval and the p value.
    p_unlike, p_alike = verdict(unlike).p, verdict(alike).p
    assert p_unlike is not None and p_alike is not None
    assert p_alike < 0.01 and p_unlike > 0.2
    half = student.ppf(0.975, 4) * ERROR
    assert verdict(unlike).interval == pytest.approx((0.8 - half, 0.8 + half))

    weights = found(one_true, "move_goal", "1", "untrained")["updates.new"]
    assert weights.value == pytest.approx(1 / 5)
    # The error over worlds is that of four initialisations without a hit in ten.
    over_worlds = 4 / 5 * (1 - 0.025**0.1)
    over_draws = student.ppf(0.975, 4) * np.sqrt(0.2 / 5)
    high = 1 / 5 + np.hypot(over_worlds, over_draws)
    assert weights.interval == pytest.approx((0, high))


@pytest.mark.parametrize("drawn", [1, 4])
def test_few_initialisations_have_no_test(perturbed: Evidence, drawn: int) -> None:
    untrained = [truth, *[stale] * (drawn - 1)]
    evidence = decoding(perturbed, none=truth, untrained=untrained)
    after = found(evidence, "move_goal", "1")
    assert verdict(after).difference == pytest.approx(1 - 1 / drawn)
    assert verdict(after).interval is None
    assert verdict(after).p is None
    reason = f"a verdict needs 5 random initialisations, got {drawn}"
    assert verdict(after).reason == reason


def test_equal_maps_show_no_difference(perturbed: Evidence) -> None:
    evidence = decoding(perturbed, none=truth, untrained=[truth] * 5)
    after = found(evidence, "move_goal", "1")
    assert verdict(after).difference == 0
    assert verdict(after).p is None
    assert "all scores are the same" in verdict(after).reason


def test_without_controls_there_is_no_test(perturbed: Evidence) -> None:
    after = found(decoding(perturbed, none=truth), "move_goal", "1")
    assert after["updates.new"].verdict is None


def test_few_worlds_have_no_interval_and_no_test(perturbed: Evidence) -> None:
    worlds = sorted({one.world.cluster for one in perturbed.trajectories})[:5]
    few = [one for one in perturbed.trajectories if one.world.cluster in worlds]
    evidence = replace(perturbed, trajectories=tuple(few))
    after = found(
        decoding(evidence, none=truth, untrained=[stale] * 5), "move_goal", "1"
    )
    assert after["updates.new"].value == 1
    assert after["updates.new"].interval is None
    assert verdict(after).reason == "5 worlds; a test needs 6"


def test_an_episode_that_ends_early_is_a_reason(perturbed: Evidence) -> None:
    cut = []
    for one in perturbed.trajectories:
        cut.append(replace(one, turns=one.turns[:3]))
    evidence = decoding(replace(perturbed, trajectories=tuple(cut)), none=truth)
    assert found(evidence, "move_goal", "1")["updates.new"].value == 1
    assert (
        "no held-out episode" in found(evidence, "move_goal", "2")["updates.new"].reason
    )


def test_runs_without_perturbation_or_maps_have_a_reason(perturbed: Evidence) -> None:
    plain = []
    for one in perturbed.trajectories:
        if "perturbation" not in one.world.facts:
            plain.append(one)
    evidence = replace(perturbed, trajectories=tuple(plain))
    (unperturbed,) = updates(decoding(evidence, none=truth))
    assert "set env.perturbation" in unperturbed.reason
    (undecoded,) = updates(perturbed)
    assert "add the probe cogmap" in undecoded.reason
    assert updates(replace(perturbed, part={"size": SIZE})) == ()


def test_all_later_turns_count_and_their_interval_is_over_worlds(
    perturbed: Evidence,
) -> None:
    after = found(decoding(perturbed, none=truth), "move_goal", "3+")
    n_late = 0
    for one in perturbed.trajectories:
        if one.world.facts.get("perturbation") == "move_goal":
            # Turn 2 is the first after the perturbation.
            n_late += len(one.turns[4:])
    assert after["updates.new"].n == n_late > 10
    assert (after["updates.new"].clusters or 0) <= 10


def test_unperturbed_turns_have_the_numbers_of_the_perturbed_ones(
    perturbed: Evidence,
) -> None:
    def at_first(trajectory: Trajectory, index: int) -> NDArray[np.int64]:
        return (truth if index == 2 else nowhere)(trajectory, index)

    evidence = decoding(perturbed, none=at_first)
    assert found(evidence, "move_goal", "1")["updates.unperturbed"].value == 1
    assert found(evidence, "move_goal", "2")["updates.unperturbed"].value == 0


def test_random_weights_are_those_of_the_same_layer(perturbed: Evidence) -> None:
    reports = [*decoding(perturbed, none=truth, untrained=stale).probe_reports]
    for report in decoding(perturbed, none=truth, untrained=truth).probe_reports:
        reports.append(replace(report, fit=replace(report.fit, layer=1)))
    evidence = replace(perturbed, probe_reports=tuple(reports))
    excess = {}
    for one in updates(evidence):
        labels = (one.where.get("perturbation"), one.where.get("since"))
        if one.name == "updates.new" and labels == ("move_goal", "1"):
            assert one.verdict is not None
            excess[one.where["layer"]] = one.verdict.difference
    assert excess == {0: 1, 1: 0}


def test_p_values_are_corrected_over_the_turns_of_a_fit(perturbed: Evidence) -> None:
    """Three tests of one p value: only the initialisations differ, in the same way."""
    evidence = decoding(perturbed, none=truth, untrained=[truth, *[stale] * 4])
    p_values = {}
    for one in updates(evidence):
        is_own = one.where["fit"] == "none" and one.name == "updates.new"
        if is_own and one.where["perturbation"] == "move_goal":
            assert one.verdict is not None
            # One initialisation is as right as the probe: nothing is shown.
            assert one.verdict.outside is False and one.verdict.outcome == "none"
            p_values[one.where["since"]] = one.verdict.p
    assert list(p_values) == ["1", "2", "3+"]
    alone = 2 * student.sf(0.8 / ERROR, 4)
    for p_value in p_values.values():
        assert p_value == pytest.approx(3 * alone, rel=1e-3)


def test_a_thing_that_was_never_trained_on_has_a_reason(perturbed: Evidence) -> None:
    (report,) = decoding(perturbed, none=truth).probe_reports
    decoded = report.decoded.copy()
    decoded[..., CLASSES.index("goal")] = 0
    evidence = replace(perturbed, probe_reports=(replace(report, decoded=decoded),))
    moved = [
        one for one in updates(evidence) if one.where["perturbation"] == "move_goal"
    ]
    assert [one.name for one in moved] == ["updates.new"]
    assert moved[0].value is None and "no goal cell" in moved[0].reason
    assert found(evidence, "put_back")["updates.before"].value == 1
