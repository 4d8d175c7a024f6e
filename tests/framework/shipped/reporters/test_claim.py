"""The claim says what the numbers say, and what speaks against them."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from gde.data.evidence import Evidence
from gde.data.plan import Choice, Plan
from gde.data.probe import ProbeReport
from gde.data.result import Measurement, Result
from gde.shipped.reporters.claim import claim, main_report
from gde.shipped.reporters.wording import SPACE

PLAN = Plan(environment=Choice(name="grid"), agent=Choice(name="gpt-oss"))


def words(text: str) -> str:
    return text.replace(SPACE, " ")


def share(name: str, value: float, low: float, high: float) -> Measurement:
    return Measurement(name=name, value=value, unit="share", n=40, interval=(low, high))


def off(report: ProbeReport, cells: float) -> ProbeReport:
    """The report with this distance of agent and goal, give or take 0.1."""
    names, around = ("distance.agent", "distance.goal"), (cells - 0.1, cells + 0.1)
    numbers = [Measurement(name=name, value=cells, unit="cells", n=9, interval=around) for name in names]
    return replace(report, measurements=tuple(numbers))


def test_behaviour_is_told_with_intervals(result: Result, evidence: Evidence) -> None:
    measured = share("success", 0.912, 0.82, 0.97), share("accuracy", 0.84, 0.8, 0.88)
    said = words(claim(PLAN, replace(result, measurements=measured), evidence).behaviour)
    assert said == (
        "In 23 worlds of grid, the agent gpt-oss reached the goal in 91 % [82, 97] of episodes and took an optimal "
        "action in 84 % [80, 88] of steps, averaged over worlds."
    )


def test_what_was_not_measured_is_not_claimed(result: Result, evidence: Evidence) -> None:
    unknown = Measurement(name="accuracy", value=None, unit="share", n=0, reason="no certified optimal actions")
    said = claim(PLAN, replace(result, measurements=(share("success", 0.5, 0.4, 0.6), unknown)), evidence).behaviour
    assert "optimal" not in said


@pytest.mark.parametrize(("cells", "doubt"), [(0.5, False), (2.95, True), (4.0, True)])
def test_the_probe_is_told_beside_its_strongest_control(
    result: Result, evidence: Evidence, cells: float, doubt: bool
) -> None:
    main, *_ = evidence.probe_reports
    rivals = [off(replace(main, arm=replace(main.arm, control="shuffled")), 5.0)]
    rivals += [off(replace(main, arm=replace(main.arm, control="untrained")), 3.0)]
    said = words(claim(PLAN, result, replace(evidence, probe_reports=(off(main, cells), *rivals))).belief)
    assert f"the agent on average {cells:.2f} cells" in said
    assert "best control, random weights: 3.00 cells [2.90, 3.10]" in said
    assert ("not clearly worse" in said) == doubt


def test_a_probe_without_controls_says_so(result: Result, evidence: Evidence) -> None:
    alone = replace(evidence, probe_reports=evidence.probe_reports[:1])
    assert "no control was measured to compare with" in claim(PLAN, result, alone).belief


def test_a_probe_of_something_else_is_told_by_its_first_number(result: Result, evidence: Evidence) -> None:
    bits = Measurement(name="plan.prefix", value=1.5, unit="bits", n=9, interval=(1.0, 2.0))
    other = replace(evidence.probe_reports[0], measurements=(bits,))
    said = words(claim(PLAN, result, replace(evidence, probe_reports=(other,))).belief)
    assert "reaches plan prefix 1.50 bits [1.00, 2.00]" in said


def test_a_probe_that_measured_nothing_gives_its_reason(result: Result, evidence: Evidence) -> None:
    failed = replace(evidence.probe_reports[0], measurements=(), reason="needs at least 2 worlds")
    said = claim(PLAN, result, replace(evidence, probe_reports=(failed,))).belief
    assert said == "Nothing was decoded from its activations: needs at least 2 worlds."


def test_without_probes_nothing_is_said_of_beliefs(result: Result, evidence: Evidence) -> None:
    assert claim(PLAN, result, replace(evidence, probe_reports=())).belief == ""


def test_the_main_arm_is_the_first_whatever_it_scored(evidence: Evidence) -> None:
    bad = off(evidence.probe_reports[0], 9.0)
    assert main_report((bad, *evidence.probe_reports[1:])) is bad


def cautions(result: Result, evidence: Evidence) -> Sequence[str]:
    return [words(one) for one in claim(PLAN, result, evidence).cautions]


def test_cautions_tell_of_failures_unusable_answers_and_few_worlds(result: Result, evidence: Evidence) -> None:
    said = cautions(result, evidence)
    assert said[0] == "1 of 24 episodes failed and are in none of these numbers."
    assert "of answers could be used" in said[1]
    few = replace(evidence, trajectories=evidence.trajectories[:4])
    assert cautions(replace(result, measurements=()), few) == ["Fewer than 10 worlds: an impression, not a finding."]
