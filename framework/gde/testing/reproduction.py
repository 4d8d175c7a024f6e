"""What every reproduction promises (`gde.parts.reproduction`)."""

from collections.abc import Callable
from dataclasses import replace
from math import isfinite

from gde.data.plan import Plan
from gde.data.result import Result
from gde.parts.reproduction import Comparison, Reproduction
from gde.testing.measurements import check_measurements
from gde.testing.promises import calling, promise, promise_equal, promise_protocol
from gde.testing.samples import sample_result

SMALL = 0.01


def check_reproduction(make: Callable[[], Reproduction], model: str = "nano", result: Result | None = None) -> None:
    """Ask for the plan and hold results against the paper, and check every promise of `Reproduction`.

    Args:
        make: gives the reproduction.
        model: the language model to plan for.
        result: what to compare; one that has none of the numbers when none is given.

    Raises:
        AssertionError: a promise is broken.
    """
    reproduction = make()
    promise_protocol(reproduction, Reproduction)
    whole, part = reproduction.plan(1.0, model), reproduction.plan(SMALL, model)
    promise(isinstance(whole, Plan), f"plan must give a Plan, got {whole!r}")
    promise(part.episodes >= 1, f"a scaled plan must keep at least one world, got {part.episodes}")
    promise(part.episodes <= whole.episodes, "a smaller scale must not give more worlds")
    promise_equal(whole, reproduction.plan(1.0, model), "plan must be the same when asked for again")
    result = result or sample_result()
    for each in (result, replace(result, measurements=())):
        sentence = "compare must give a measurement with a reason where the result lacks a number"
        for comparison in calling(lambda each=each: reproduction.compare(each), sentence):  # type: ignore[misc]
            _check_comparison(comparison)


def _check_comparison(comparison: Comparison) -> None:
    promise(isinstance(comparison, Comparison), f"compare must give Comparisons, got {comparison!r}")
    promise(comparison.quantity, "a comparison must name the quantity")
    promise(isfinite(comparison.paper), f"{comparison.quantity}: the printed number must be finite")
    promise(comparison.source, f"{comparison.quantity}: `source` must say where the number is printed")
    check_measurements([comparison.ours])
