"""The sentences of verdicts, on screen, page and in comparisons."""

from types import SimpleNamespace
from typing import Any

import pytest

from gde.data.measure import Measure, Measures
from gde.data.result import Measurement
from gde.reporting.contest import own_verdicts
from gde.reporting.sentences import sentences, told

DIRECTED = Measure(
    name="directed",
    title="Directed",
    unit="probability",
    sentence="Directed: {verdict} (p {}); {test}; {directed.share} of the best; found in {directed.found} runs",
)
MEANINGS = Measures((DIRECTED,))


def one(name: str, value: float | None, unit: str, **where: str) -> Measurement:
    reason = "" if value is not None else "too few worlds"
    return Measurement(
        name=name, value=value, unit=unit, n=8, where=where, reason=reason
    )


VERDICT = one("directed", 0.03, "probability", verdict="shown")
SHARE = one("directed.share", 0.62, "share")
FOUND = one("directed.found", 5.0, "count")


def test_a_sentence_tells_the_numbers_it_names() -> None:
    (said,) = sentences([VERDICT, SHARE, FOUND], MEANINGS)
    assert said == (
        "Directed: shown (p 0.030); 62\N{NO-BREAK SPACE}% of the best; found in 5 of 8 runs."
    )


def test_a_label_of_the_verdict_fills_its_place() -> None:
    verdict = one("directed", 0.03, "probability", verdict="shown", test="by moving")
    (said,) = sentences([verdict], MEANINGS)
    assert said == "Directed: shown (p 0.030); by moving."


def test_in_brief_only_the_first_part_is_said() -> None:
    (said,) = sentences([VERDICT, SHARE, FOUND], MEANINGS, brief=True)
    assert said == "Directed: shown (p 0.030)."


@pytest.mark.parametrize("missing", [[], [one("directed.share", None, "share")]])
def test_a_part_without_its_number_is_left_out(missing: list[Measurement]) -> None:
    (said,) = sentences([VERDICT, *missing, FOUND], MEANINGS)
    assert said == "Directed: shown (p 0.030); found in 5 of 8 runs."


def test_without_a_verdict_the_reason_is_said() -> None:
    (said,) = sentences([one("directed", None, "probability"), SHARE], MEANINGS)
    assert said == "Directed: too few worlds."


def test_the_whole_run_speaks_before_its_parts() -> None:
    part = one("directed", 0.9, "probability", verdict="not shown", size="7")
    (said,) = sentences([part, VERDICT], MEANINGS)
    assert said.startswith("Directed: shown")


def test_measures_without_a_sentence_say_nothing() -> None:
    silent = Measures((Measure(name="directed", title="Directed", unit="share"),))
    assert sentences([VERDICT], silent) == []


def test_numbers_that_a_sentence_tells_are_known() -> None:
    assert told(DIRECTED) >= {"directed", "directed.share", "directed.found"}
    assert told(Measure(name="x", title="X", unit="share")) == set()


def test_the_verdicts_of_variants_are_a_family() -> None:
    """What is clear alone need not be among others; conditions count no further."""
    part = one("directed", 0.04, "probability", verdict="shown", size="7")
    results = {}
    for name, p_value in (("a", 0.03), ("b", 0.001), ("c", None)):
        verdict = one("directed", p_value, "probability", verdict="shown")
        results[name] = SimpleNamespace(measurements=[verdict, part], meanings=MEANINGS)
    family: Any = SimpleNamespace(results={**results, "d": results["a"]})
    first, second, third, _ = own_verdicts(family)
    assert first.startswith("a: Directed: not shown (p 0.030). After Holm over 4 var")
    assert first.endswith("p 0.060.")
    assert second.startswith("b: Directed: shown (p 0.001).")
    assert third == "c: Directed: too few worlds."

    alone: Any = SimpleNamespace(results={"a": results["a"]})
    assert own_verdicts(alone) == ["a: Directed: shown (p 0.030)."]
