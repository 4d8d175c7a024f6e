"""What the numbers say, in a sentence or two, with what speaks against them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gde.data.evidence import Evidence
from gde.data.plan import Plan
from gde.data.probe import ProbeReport
from gde.data.result import Measurement, Result
from gde.shipped.reporters.wording import CONTROLS, MARKS, estimate, title

FEW_WORLDS = 10
"""With fewer, an interval over worlds says little."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """The opening of a report."""

    behaviour: str
    """What the agent did."""
    belief: str
    """What its activations say, against the strongest control; empty without probes."""
    cautions: tuple[str, ...]
    """What a reader has to know before believing them."""


def claim(plan: Plan, result: Result, evidence: Evidence) -> Claim:
    """The claim that the numbers support, made of nothing but them."""
    found = {one.name: one for one in result.measurements if not one.where}
    counted = _Counted.of(evidence)
    behaviour, cautions = _behaviour(plan, found, counted.worlds), tuple(_cautions(found, counted))
    return Claim(behaviour=behaviour, belief=_belief(evidence), cautions=cautions)


class _Counted(NamedTuple):
    """What the numbers rest on."""

    episodes: int
    failed: int
    worlds: int
    """Of those that have not failed."""

    @classmethod
    def of(cls, evidence: Evidence) -> "_Counted":
        failed, worlds = 0, set()
        for one in evidence.trajectories:
            if one.ending == "failed":
                failed += 1
            else:
                worlds.add(one.world.id)
        return cls(len(evidence.trajectories), failed, len(worlds))


def main_report(reports: Sequence[ProbeReport]) -> ProbeReport | None:
    """The arm that a report speaks of: the first that is no control. Never chosen by how well it did."""
    return next((report for report in reports if report.arm.control == "none"), None)


def _behaviour(plan: Plan, found: Mapping[str, Measurement], n_worlds: int) -> str:
    phrases = [
        ("success", "reached the goal in {} of episodes"),
        ("accuracy", "took an optimal action in {} of steps, averaged over worlds"),
    ]
    measured = {name for name, one in found.items() if one.value is not None}
    said = [text.format(estimate(found[name], 0)) for name, text in phrases if name in measured]
    subject = f"In {n_worlds} worlds of {plan.environment.name}, the agent {plan.agent.name}"
    return f"{subject} {' and '.join(said)}." if said else f"{subject} was run, and nothing of its behaviour measured."


def _belief(evidence: Evidence) -> str:
    main = main_report(evidence.probe_reports)
    if main is None:
        return ""
    if main.reason or not main.measurements:
        return f"Nothing was decoded from its activations: {main.reason or 'the probe gave no numbers'}."
    arm = main.arm
    probe = f"From its activations {MARKS.get(arm.mark, arm.mark)}, a probe ({arm.variant}, layer {arm.layer})"
    held_out = "in worlds that it was not fitted to"
    rivals = [one for one in evidence.probe_reports if one.arm.control != "none" and one.arm.probe == arm.probe]
    places = [text for what in ("agent", "goal") if (text := _distance(what, main, rivals))]
    if places:
        return f"{probe} places {' and '.join(places)}, {held_out}."
    first = main.measurements[0]
    return f"{probe} reaches {title(first.name)} {estimate(first)}, {held_out}."


def _distance(what: str, main: ProbeReport, rivals: Sequence[ProbeReport]) -> str:
    ours = _decoded_distance(main, what)
    if ours is None:
        return ""
    theirs = [(rival, measured) for rival in rivals if (measured := _decoded_distance(rival, what))]
    return f"the {what} on average {estimate(ours)} from where it is ({_against(ours, theirs)})"


def _against(ours: Measurement, theirs: Sequence[tuple[ProbeReport, Measurement]]) -> str:
    if not theirs:
        return "no control was measured to compare with"
    report, rival = min(theirs, key=lambda pair: pair[1].value or 0.0)
    doubt = "" if _below(ours, rival) else ", not clearly worse"
    return f"best control, {CONTROLS[report.arm.control][0]}: {estimate(rival)}{doubt}"


def _decoded_distance(report: ProbeReport, what: str) -> Measurement | None:
    """The mean distance between the decoded and the true place of agent or goal, where it was measured."""
    found = (one for one in report.measurements if one.name == f"distance.{what}" and not one.where)
    return next((one for one in found if one.value is not None), None)


def _below(ours: Measurement, rival: Measurement) -> bool:
    """Whether the intervals are apart."""
    return bool(ours.interval and rival.interval and ours.interval[1] < rival.interval[0])


def _cautions(found: Mapping[str, Measurement], counted: _Counted) -> Iterator[str]:
    if counted.failed:
        yield f"{counted.failed} of {counted.episodes} episodes failed and are in none of these numbers."
    usable = found.get("outcomes.ok")
    if usable is not None and usable.value is not None and usable.value < 1:
        yield f"{estimate(usable)} of answers could be used; the others count as steps that were not optimal."
    if counted.worlds < FEW_WORLDS:
        yield f"Fewer than {FEW_WORLDS} worlds: an impression, not a finding."
