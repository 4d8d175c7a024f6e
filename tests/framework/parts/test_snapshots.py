"""An environment without snapshots is put back by replay, and then goes on as if
nothing had happened.
"""

from dataclasses import dataclass

import pytest
from dictating import Dictation
from hypothesis import given
from hypothesis import strategies as st
from recipe_world import Recipe

from gde.parts.environment import HasOptimum, HasSnapshot
from gde.parts.snapshots import Replayed, restorable
from gde.testing.parts import Corridor

STEPS = st.lists(st.sampled_from(("STEP0", "STEP1")), max_size=8)


@dataclass
class Short(Recipe):
    """Two steps, of which the second is never taken by the script below."""

    length: int = 2


def seen(recipe: Short | Replayed, actions: list[str]) -> list[object]:
    """Everything that can be seen of these actions, up to an end."""
    found: list[object] = []
    for action in actions:
        outcome = recipe.step(action)
        found.append(outcome)
        if outcome.terminated:
            break
    return found


@given(seed=st.integers(0, 2**40), before=STEPS, tried=STEPS, after=STEPS)
def test_whatever_is_tried_in_between_leaves_no_trace(
    seed: int, before: list[str], tried: list[str], after: list[str]
) -> None:
    plain, replayed = Short(), Replayed(Short())
    assert plain.reset(seed) == replayed.reset(seed)
    first = seen(plain, before)
    assert seen(replayed, before) == first
    if first and first[-1].terminated:  # type: ignore[attr-defined]
        return
    snapshot = replayed.snapshot()
    seen(replayed, tried)
    shown = replayed.restore(snapshot)
    assert shown == (first[-1].observation if first else Short().reset(seed))  # type: ignore[attr-defined]
    assert seen(replayed, after) == seen(plain, after)


def test_a_snapshot_can_be_gone_back_to_again_and_taken_after_going_back() -> None:
    replayed = Replayed(Recipe())
    replayed.reset(3)
    start = replayed.snapshot()
    for action in ("STEP0", "STEP1", "STEP2"):
        replayed.step(action)
    later = replayed.snapshot()
    replayed.restore(start)
    assert replayed.snapshot() == start
    replayed.restore(later)
    assert replayed.snapshot() == later


def test_an_environment_of_its_own_snapshots_is_left_as_it_is() -> None:
    corridor = Corridor()
    assert restorable(corridor) is corridor
    assert not isinstance(Recipe(), HasSnapshot)
    assert isinstance(restorable(Recipe()), Replayed)
    assert isinstance(restorable(Dictation()), HasSnapshot)


def test_the_other_capabilities_are_still_there() -> None:
    replayed = restorable(Recipe())
    replayed.reset(0)
    assert isinstance(replayed, HasOptimum)
    assert replayed.optimum().means == "the expert's way"
    with pytest.raises(AttributeError):
        replayed.mdp()  # type: ignore[attr-defined]


@pytest.mark.parametrize("wrong", [None, 3, "snapshot"])
def test_what_is_no_snapshot_of_the_episode_is_refused(wrong: object) -> None:
    replayed = Replayed(Recipe())
    with pytest.raises(
        ValueError, match="a snapshot of an episode, got none: call reset first"
    ):
        replayed.snapshot()
    replayed.reset(0)
    with pytest.raises(ValueError, match="wanted a snapshot of this episode, got"):
        replayed.restore(wrong)
    other = replayed.snapshot()
    replayed.reset(1)
    with pytest.raises(
        ValueError, match=r"wanted a snapshot of this episode, got Played\(seed=0"
    ):
        replayed.restore(other)


def test_an_action_that_is_refused_is_not_replayed() -> None:
    replayed = Replayed(Recipe())
    replayed.reset(0)
    with pytest.raises(ValueError, match="the recipe takes"):
        replayed.step("JUMP")
    replayed.restore(replayed.snapshot())
