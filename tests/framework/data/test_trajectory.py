"""What an episode says of itself."""

from dataclasses import replace

import pytest

from gde.data.trajectory import FIRST_ACTION, Decision, Trajectory
from gde.testing.samples import sample_evidence


def played(*decisions: Decision, **facts: object) -> Trajectory:
    (first, *_) = (one for one in sample_evidence(1).trajectories if one.turns)
    turns = tuple(
        replace(first.turns[0], index=i, decision=each)
        for i, each in enumerate(decisions)
    )
    return replace(first, turns=turns, world=replace(first.world, facts=facts))


@pytest.mark.parametrize(
    ("facts", "led"),
    [({}, ""), ({FIRST_ACTION: "look"}, "look"), ({FIRST_ACTION: 3}, "")],
)
def test_every_turn_follows_the_action_before_it(
    facts: dict[str, object], led: str
) -> None:
    decisions = (
        Decision.act("left"),
        Decision.unusable("empty", "nothing came"),
        Decision.act("right"),
    )
    assert played(*decisions, **facts).actions_before == (led, "left", "")
    assert played(**facts).actions_before == ()
