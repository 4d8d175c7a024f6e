"""Contenders are ranked by task, each beside the best baseline."""

import numpy as np
import pytest

from gde.data.measure import Measure
from gde.numerics.leaderboard import Scores, Standing, leaderboard, mean_interval

DISTANCE = Measure(name="d", title="Distance", better="less", contender="reward")


def scores(**means: tuple[float, ...]) -> Scores:
    """Twelve tasks of each condition, about these means; all contenders share noise."""
    noise = np.random.default_rng(0).normal(0, 0.05, 12)
    found: Scores = {}
    for place, (name, of_conditions) in enumerate(means.items()):
        own = np.random.default_rng(place).normal(0, 0.01, 12)
        found[name] = {
            f"c{i}": {f"{i}/{j}": mean + noise[j] + own[j] for j in range(12)}
            for i, mean in enumerate(of_conditions)
        }
    return found


def board(given: Scores, **changed: str) -> dict[tuple[str, str], Standing]:
    measure = Measure(**{**vars(DISTANCE), **changed})  # type: ignore[arg-type]
    found = leaderboard(given, {"clock", "words"}, measure)
    return {(one.condition, one.contender): one for one in found}


def test_a_contender_is_compared_with_the_best_baseline_of_its_condition() -> None:
    found = board(scores(model=(0.3, 0.5), clock=(0.5, 0.4), words=(0.6, 0.3)))
    first, second = found["c0", "model"].verdict, found["c1", "model"].verdict
    assert first is not None
    assert second is not None
    assert (first.control, first.outcome) == ("clock", "better")
    assert (second.control, second.outcome) == ("words", "worse")
    assert first.difference == pytest.approx(-0.2, abs=0.02)
    assert first.interval is not None
    assert first.interval[0] < first.difference < first.interval[1] < 0
    assert found["c0", "clock"].verdict is None
    assert found["c0", "words"].baseline


def test_more_can_be_better() -> None:
    given = scores(model=(0.3,), clock=(0.5,))
    lower = board(given)["c0", "model"].verdict
    higher = board(given, better="more")["c0", "model"].verdict
    assert lower is not None
    assert higher is not None
    assert (lower.outcome, higher.outcome) == ("better", "worse")


def test_over_all_every_condition_has_the_same_weight() -> None:
    given = scores(model=(0.2, 0.6), clock=(0.4, 0.6), partial=(0.1,))
    # Six tasks of the second condition more than count twice.
    for name in ("model", "clock"):
        more = {f"again {task}": x for task, x in given[name]["c1"].items()}
        given[name]["c1"] |= more
    found = board(given)
    model = found["", "model"]
    each = [found[f"c{i}", "model"].value for i in range(2)]
    assert model.value == pytest.approx(np.mean(each))
    assert model.tasks == 36
    assert model.verdict is not None
    assert model.verdict.difference == pytest.approx(-0.1, abs=0.02)
    assert ("", "partial") not in found


def test_equals_are_not_told_apart_and_p_values_are_corrected_together() -> None:
    alone = board(scores(model=(0.48,), clock=(0.5,)))["c0", "model"].verdict
    many = {f"m{i}": (0.48,) for i in range(20)}
    crowd = board(scores(model=(0.48,), clock=(0.5,), **many))["c0", "model"].verdict
    same = scores(model=(0.5,), clock=(0.5,))
    same["model"] = same["clock"]
    equal = board(same)["c0", "model"].verdict
    assert alone is not None
    assert crowd is not None
    assert equal is not None
    assert alone.p is not None
    assert crowd.p is not None
    assert alone.p < crowd.p
    assert (equal.p, equal.outcome, equal.difference) == (None, "untested", 0)


def test_too_few_tasks_have_a_difference_and_no_test() -> None:
    given = scores(model=(0.3,), clock=(0.5,))
    few = {
        name: {"c0": dict([*each["c0"].items()][:4])} for name, each in given.items()
    }
    verdict = board(few)["c0", "model"].verdict
    assert verdict is not None
    assert (verdict.p, verdict.interval, verdict.outcome) == (None, None, "untested")
    assert verdict.reason


def test_equal_numbers_have_no_interval_and_say_so() -> None:
    given = scores(model=(0.3,))
    given["flat"] = {"c0": dict.fromkeys(given["model"]["c0"], 0.7)}
    found = board(given)
    flat = found["c0", "flat"]
    assert (flat.interval, flat.reason) == (None, "all values are equal")
    assert found["c0", "model"].reason == ""


def test_bounds_of_a_mean_add_up_in_squares() -> None:
    low, high = mean_interval([1.0, 3.0], [(0.7, 1.3), (2.6, 3.4)]) or (0, 0)
    assert (low, high) == pytest.approx((2 - 0.25, 2 + 0.25))
    assert mean_interval([1.0, 2.0], [(0.5, 1.5), None]) is None
