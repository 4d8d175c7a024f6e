"""The behaviour metrics count what they say they count, on episodes small enough to
count by hand.
"""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace

import pytest

from gde.data.answer import Reading
from gde.data.completion import Completion
from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.trajectory import STATUSES, Decision, Ending, Trajectory
from gde.parts.metric import Metric
from gde.testing.context import PlainContext
from gde.testing.episodes import MUTE, Move, episode_of
from gde.testing.metric import check_metric
from gde.testing.samples import sample_evidence
from gde_plugins.behaviour.calibration import calibration
from gde_plugins.behaviour.difficulty import difficulty
from gde_plugins.behaviour.efficiency import efficiency
from gde_plugins.behaviour.outcomes import outcomes
from gde_plugins.behaviour.overlap import overlap
from gde_plugins.behaviour.performance import accuracy, length, success
from gde_plugins.behaviour.plugin import gde_metrics
from gde_plugins.behaviour.policy import policy

METRICS = (
    success,
    accuracy,
    length,
    outcomes,
    policy,
    calibration,
    efficiency,
    overlap,
    difficulty,
)
RIGHT, WRONG = Decision.act("UP"), Decision.act("DOWN")


def episode(
    world: int,
    decisions: Sequence[Decision],
    ending: Ending = "terminated",
    reward: float = 1.0,
    repeat: int = 0,
) -> Trajectory:
    moves = [Move(action=decision, optimal=("UP", "LEFT")) for decision in decisions]
    return episode_of(
        moves, world=world, repeat=repeat, ending=ending, reward=reward, horizon=9
    )


EPISODES = (
    episode(0, [RIGHT, RIGHT]),
    episode(0, [RIGHT, WRONG], ending="horizon", reward=0.0, repeat=1),
    episode(1, [WRONG, WRONG, MUTE, RIGHT], ending="horizon", reward=0.0),
    episode(2, [WRONG], ending="failed"),
)
EVIDENCE = Evidence(trajectories=EPISODES, seed=3)


def by_name(measurements: Sequence[Measurement]) -> dict[str, Measurement]:
    return {measurement.name: measurement for measurement in measurements}


def test_success_is_the_share_of_finished_episodes_that_reach_the_goal() -> None:
    (measurement,) = success(EVIDENCE)
    assert measurement.value == pytest.approx(1 / 3)
    assert (measurement.name, measurement.n) == ("success", 3)
    assert (measurement.clusters, measurement.interval) == (2, None)

    many = [episode(world, [RIGHT if world % 2 else WRONG]) for world in range(6)]
    assert success(Evidence(trajectories=tuple(many)))[0].interval is not None


def test_a_terminal_state_without_reward_is_no_success() -> None:
    fallen = Evidence(
        trajectories=(episode(0, [WRONG], reward=-1.0), episode(1, [RIGHT]))
    )
    assert success(fallen)[0].value == 0.5


def test_accuracy_averages_trajectories_then_worlds_and_pooling_counts_steps() -> None:
    numbers = by_name(accuracy(EVIDENCE))
    assert numbers["accuracy"].value == pytest.approx(((1 + 1 / 2) / 2 + 1 / 4) / 2)
    assert numbers["accuracy"].n == 2
    assert numbers["accuracy.pooled"].value == pytest.approx(4 / 8)
    assert numbers["accuracy.pooled"].n == 8


def test_turns_without_certified_optima_leave_accuracy_unmeasured_with_the_reason() -> (
    None
):
    known = episode(0, [RIGHT, WRONG])
    blind = replace(
        known, turns=(known.turns[0], replace(known.turns[1], optimal=None))
    )
    for measurement in accuracy(Evidence(trajectories=(blind,))):
        assert measurement.value is None
        assert measurement.reason == "1 of 2 turns have no certified optimal actions"


def test_every_answer_and_every_ending_is_counted() -> None:
    numbers = by_name(outcomes(EVIDENCE))
    assert numbers["outcomes.ok"].value == pytest.approx(7 / 8)
    assert numbers["outcomes.unparsable"].value == pytest.approx(1 / 8)
    assert sum(
        numbers[f"outcomes.{status}"].value or 0 for status in STATUSES
    ) == pytest.approx(1)
    assert sum(
        one.value or 0 for name, one in numbers.items() if name.startswith("endings.")
    ) == pytest.approx(1)
    assert (numbers["episodes.failed"].value, numbers["episodes.failed"].n) == (1.0, 4)
    assert numbers["endings.failed"].value == 0.25


def test_the_strict_share_leaves_out_answers_that_a_rule_has_read() -> None:
    read = Reading(action="UP", rule="marker").decision(
        Completion(text="Action: UP", reasoning=None, finish="stop")
    )
    episodes = (episode(0, [RIGHT, read]), episode(1, [read, MUTE]))
    numbers = by_name(outcomes(Evidence(trajectories=episodes)))
    assert numbers["outcomes.ok"].value == pytest.approx(3 / 4)
    assert numbers["outcomes.strict"].value == pytest.approx(1 / 4)
    alike = by_name(outcomes(EVIDENCE))
    assert alike["outcomes.strict"].value == alike["outcomes.ok"].value


def test_length_is_the_mean_number_of_turns() -> None:
    (measurement,) = length(EVIDENCE)
    assert measurement.value == pytest.approx(8 / 3)
    assert measurement.n == 3


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("trajectories", [(), (episode(0, [], ending="failed"),)])
def test_without_a_finished_episode_there_are_reasons_instead_of_numbers(
    metric: Metric, trajectories: tuple[Trajectory, ...]
) -> None:
    measurements = metric(Evidence(trajectories=trajectories))
    about_answers = [
        one
        for one in measurements
        if not one.name.startswith(("endings.", "episodes."))
    ]
    assert about_answers
    assert {one.reason for one in about_answers} == {"no episode was finished"}


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_keeps_the_promises_of_its_part(metric: Metric) -> None:
    check_metric(lambda: metric, sample_evidence())
    check_metric(lambda: metric, EVIDENCE)


def test_intervals_resample_clusters_and_averages_count_worlds() -> None:
    alike = [
        episode(world, [RIGHT if world % 2 else WRONG] * (1 + world % 3))
        for world in range(8)
    ]
    kin = [replace(one, world=replace(one.world, base="kin")) for one in alike]
    for metric in (success, accuracy, length):
        for alone, together in zip(
            metric(Evidence(trajectories=tuple(alike))),
            metric(Evidence(trajectories=tuple(kin))),
            strict=True,
        ):
            assert (together.value, together.n) == (alone.value, alone.n)
            assert alone.interval is not None
            assert together.interval is None


def test_the_offers_make_the_metrics_and_what_judges_actions_needs_a_model() -> None:
    offers = {offer.name: offer for offer in gde_metrics()}
    made = {
        name: offer.made(offer.config(), PlainContext())
        for name, offer in offers.items()
    }
    del made["references"]
    assert {id(metric) for metric in made.values()} == {*map(id, METRICS)}
    assert {name for name in made if not offers[name].needs} == {
        "success",
        "length",
        "outcomes",
    }


def test_listing_the_offers_imports_no_statistics() -> None:
    code = "import sys, gde_plugins.behaviour.plugin as p; p.gde_metrics(); print('scipy.stats' in sys.modules)"
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert output.strip() == "False"
