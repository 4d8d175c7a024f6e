"""Selections of episodes, the needs of a number, and averages over worlds."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from gde.data.evidence import Evidence
from gde.data.grouping import collected
from gde.data.observation import World
from gde.data.trajectory import EpisodeKey, Trajectory, Turn
from gde.numerics.episodes import (
    CERTIFIED,
    Count,
    Need,
    Place,
    count,
    finished,
    is_optimal,
    lacking,
    over_worlds,
    played,
    pooled_share,
    unmeasured,
)
from gde.numerics.stats import cluster_mean, cluster_share
from gde.seeding import generator
from gde.testing.samples import sample_evidence

PLAYED = next(one for one in sample_evidence(1).trajectories if one.turns)
TURN = PLAYED.turns[0]
VALUED = Need("certified value", lambda turn: turn.value is not None)
EVIDENCE = Evidence(trajectories=(), seed=4)


def episode(
    world: int, turns: Sequence[Turn] = (TURN,), **changes: object
) -> Trajectory:
    return replace(
        PLAYED,
        key=EpisodeKey(condition=0, world=world),
        world=World(id=f"w{world}", base="base"),
        turns=tuple(turns),
        **changes,  # type: ignore[arg-type]
    )


def test_failed_episodes_are_no_finished_ones_and_empty_ones_were_not_played() -> None:
    good, failed = episode(0), episode(1, (), ending="failed", failure="lost")
    empty = episode(2, (), ending="horizon")
    evidence = Evidence(trajectories=(good, failed, empty))
    assert list(finished(evidence)) == [good, empty]
    # A selection may be iterated several times.
    selection = played(evidence)
    assert list(selection) == list(selection) == [good]


def test_values_are_collected_by_world_in_the_order_of_their_first_episodes() -> None:
    first, second = Place("a", "base"), Place("b", "base")
    found = collected([(second, 1), (first, 2), (second, 3)])
    assert list(found.items()) == [(second, [1, 3]), (first, [2])]
    assert Place.of(episode(7)) == ("w7", "base")


def test_the_first_unmet_need_is_named_with_its_number_of_turns() -> None:
    bare = replace(TURN, optimal=None, value=None)
    certified = replace(TURN, optimal=("a",), value=None)
    whole = replace(TURN, optimal=("a",), value=1.0)
    episodes = [episode(0, [whole, certified]), episode(1, [bare, whole])]
    assert lacking(episodes, CERTIFIED, VALUED) == (
        "1 of 4 turns have no certified optimal actions"
    )
    assert lacking(episodes, VALUED) == "2 of 4 turns have no certified value"
    assert lacking(episodes[:1], CERTIFIED, VALUED) == (
        "1 of 2 turns have no certified value"
    )
    assert lacking([episode(0, [whole])], CERTIFIED, VALUED) == ""


@pytest.mark.parametrize("episodes", [[], [episode(0, ())]])
def test_without_a_turn_nothing_was_finished(episodes: list[Trajectory]) -> None:
    assert lacking(episodes, CERTIFIED) == "no episode was finished"
    assert lacking(episodes) == "no episode was finished"


def test_an_action_is_optimal_where_it_is_certified_as_such() -> None:
    action = TURN.decision.action
    assert action is not None
    assert is_optimal(replace(TURN, optimal=("other", action)))
    assert not is_optimal(replace(TURN, optimal=("other",)))
    assert not is_optimal(replace(TURN, optimal=None))


def test_hits_are_counted_of_all_decisions_of_an_episode() -> None:
    found = count(episode(0), iter([True, False, True]))
    assert found == Count(cluster="base", hits=2, of=3)


def test_a_pooled_share_gives_every_decision_the_same_weight() -> None:
    counts = [Count("a", 1, 1), Count("b", 0, 3), Count("c", 0, 0)]
    found = pooled_share(EVIDENCE, "hits", counts)
    assert (found.name, found.value, found.n) == ("hits", 0.25, 4)
    # The seed of the interval is the run's, and the metric's own.
    rng = generator(4, "metric", "hits")
    expected = cluster_share([1, 0], ["a", "b"], rng, trials=[1, 3])
    assert found.interval == expected.interval


def test_a_pooled_share_of_no_decision_has_a_reason() -> None:
    found = pooled_share(EVIDENCE, "hits", [Count("a", 0, 0)], "no choice was left")
    assert (found.value, found.n, found.reason) == (None, 0, "no choice was left")
    empty = pooled_share(EVIDENCE, "hits", [])
    assert empty.reason == "no episode was finished"


def test_worlds_have_the_same_weight_and_are_resampled_by_cluster() -> None:
    values = {Place("a", "x"): 1.0, Place("b", "x"): 0.0, Place("c", "y"): 1.0}
    found = over_worlds(EVIDENCE, "share", values)
    assert (found.value, found.n) == (pytest.approx(2 / 3), 3)
    rng = generator(4, "metric", "share")
    assert found.interval == cluster_share([1, 0, 1], [*"xxy"], rng).interval


def test_values_of_another_range_take_another_estimate() -> None:
    values = {Place("a", "x"): 5.0, Place("b", "y"): 8.0}
    found = over_worlds(EVIDENCE, "steps", values, cluster_mean)
    assert (found.value, found.n) == (6.5, 2)
    with pytest.raises(ValueError, match="between 0 and trials"):
        over_worlds(EVIDENCE, "steps", values)


def test_a_mean_of_nothing_has_a_reason() -> None:
    found = over_worlds(EVIDENCE, "share", {}, reason="no world was seen")
    assert (found.value, found.n, found.reason) == (None, 0, "no world was seen")


def test_what_is_unmeasured_counts_nothing() -> None:
    found = unmeasured("m", "no data", {"size": 5}, "share")
    assert (found.name, found.unit, found.value) == ("m", "share", None)
    assert (found.n, found.reason, found.where) == (0, "no data", {"size": 5})
