"""The lower bound of a run, where no table is needed."""

from pathlib import Path

import pytest
from test_goal_swap import Corridor, Seeker

from gde import Choice, Plan, evaluate
from gde.data.observation import Observation
from gde.data.result import Measurement
from gde_plugins.gymnasium import from_gymnasium

POLE = from_gymnasium("CartPole-v1", actions=("LEFT", "RIGHT"), horizon=25)
"""Its observations are numbers."""


def balance(observation: Observation) -> str:
    """Push to the side that the pole falls to."""
    _, _, angle, falls = observation.raw
    return "RIGHT" if angle + 0.5 * falls > 0 else "LEFT"


def bounds(out: Path, **fields: object) -> list[Measurement]:
    plan = Plan(**{"metrics": ["meg-bound"], "episodes": 8, **fields})  # type: ignore[arg-type]
    result = evaluate(plan, out)
    return [one for one in result.measurements if one.name == "meg.bound"]


@pytest.mark.extended
def test_a_seeker_is_bounded_from_below_and_random_choice_is_not(
    tmp_path: Path,
) -> None:
    blocks = Choice(name="blocksworld", config={"blocks": 3})
    (seeker,) = bounds(tmp_path / "a", environment=blocks, agent="optimal")
    (random,) = bounds(tmp_path / "b", environment=blocks, agent="random")
    assert seeker.interval is not None
    assert random.interval is not None
    assert seeker.interval[0] > 0.5
    assert random.interval[0] < 0.1


def test_words_serve_where_optimal_actions_are_not_known(tmp_path: Path) -> None:
    # No word tells where the agent is, so no utility of words predicts it.
    (found,) = bounds(tmp_path / "run", environment=Corridor, agent=Seeker)
    assert found.value == pytest.approx(0, abs=1e-6)


def test_conditions_are_measured_each_on_its_own(tmp_path: Path) -> None:
    whole, own, moved = bounds(
        tmp_path / "run", environment=Corridor, agent=Seeker, goal_swap=True
    )
    assert whole.reason == "each condition is measured on its own"
    assert own.value is not None
    assert "do not begin from their seed alone" in moved.reason


def test_numbers_of_an_observation_are_read_as_numbers(tmp_path: Path) -> None:
    """And more episodes tighten the bound."""
    few, many = (
        bounds(tmp_path / str(n), environment=POLE, agent=balance, episodes=n)[0]
        for n in (6, 20)
    )
    (random,) = bounds(tmp_path / "random", environment=POLE, agent="random")
    assert few.interval is not None
    assert many.interval is not None
    assert few.interval[0] < many.interval[0]
    assert many.interval[0] > 5
    assert random.value == pytest.approx(0, abs=0.5)
    assert random.interval is not None
    assert random.interval[0] == 0
