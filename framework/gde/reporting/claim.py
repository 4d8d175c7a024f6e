"""What the numbers say, in a sentence or two, with what speaks against them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gde.data.probe import ProbeReport
from gde.data.result import FEW_WORLDS, Result, Subject
from gde.reporting.findings import Beside, Finding, Probed, findings, headlines, probed
from gde.reporting.wording import MARKS, arm_text, caveats, estimate, inline, labels_text

TOLD = 3
"""Headlines that a sentence lists where none brings words of its own."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """The opening of a report."""

    behaviour: str
    """What the agent did."""
    belief: str
    """What its activations say, against the strongest control; empty without probes."""
    cautions: tuple[str, ...]
    """What a reader has to know before believing them."""


def claim(result: Result) -> Claim:
    """The claim that the numbers support, made of nothing but them."""
    found = probed(result)
    belief = _belief(found[0]) if found else ""
    told = caveats((one.measure, probe.arm.where) for probe in found for one in probe.numbers)
    return Claim(behaviour=_behaviour(result), belief=belief, cautions=(*_cautions(result.subject), *told))


def main_report(reports: Sequence[ProbeReport]) -> ProbeReport | None:
    """The arm that a report speaks of: the first that is no control. Never chosen by how well it did."""
    return next((report for report in reports if report.arm.control == "none"), None)


def _behaviour(result: Result) -> str:
    of = result.subject
    subject = f"In {of.worlds} worlds of {of.environment}, the agent {of.agent}"
    measured = [one for one in headlines(result) if one.numbers[0].value is not None]
    if phrases := [_phrase(one) for one in measured if one.measure.phrase and len(one.numbers) == 1]:
        return f"{subject} {_joined(phrases)}."
    if measured:
        return f"{subject}: {'; '.join(map(_listed, measured[:TOLD]))}."
    if broken_down := [one for one in findings(result) if one.by]:
        keys = _joined(list(dict.fromkeys(key for one in broken_down for key in one.by)))
        titles = _joined([inline(one.measure.titled({})[0]) for one in broken_down[:TOLD]])
        return f"{subject}: {titles} by {keys}."
    return f"{subject} was run, and nothing of its behaviour measured."


def _phrase(one: Finding) -> str:
    return one.measure.phrase.replace("{}", estimate(one.numbers[0], 0))


def _listed(one: Finding) -> str:
    """Title and number; of several numbers the best and the one that comes next."""
    best, *others = one.numbers
    title, rest = one.measure.titled(best.where)
    told = f"{inline(title)}{f': {labels_text(rest)}' if rest else ''} {estimate(best, 0)}"
    if not others:
        return told
    _, rest = one.measure.titled(others[0].where)
    rival = labels_text(rest) or " ".join(map(str, others[0].where.values()))
    return f"{told}, next {rival} {estimate(others[0], 0)}"


def _belief(found: Probed) -> str:
    arm = found.arm
    if not found.numbers:
        return f"Nothing was decoded from its activations: {found.reason or 'the probe gave no numbers'}."
    probe = f"From its activations {MARKS.get(arm.mark, arm.mark)}, a probe ({arm.variant}, layer {arm.layer})"
    told = [one for one in found.numbers if one.measure.phrase]
    phrases = [f"{_decoded(one)} ({_against(one)})" for one in told or found.numbers[:1]]
    return f"{probe} {_joined(phrases)}, in worlds that it was not fitted to."


def _decoded(one: Beside) -> str:
    phrase = one.measure.phrase or f"reaches {inline(one.measure.title)} {{}}"
    return phrase.replace("{}", estimate(one.ours))


def _against(one: Beside) -> str:
    if one.arm is None or one.rival is None:
        return "no control was measured to compare with"
    better, unclear = {"less": ("best", "worse"), "more": ("best", "worse"), "": ("nearest", "different")}[
        one.measure.better
    ]
    doubt = "" if one.clear else ", which does better" if one.beaten else f", not clearly {unclear}"
    return f"{better} control, {arm_text(one.arm)}: {estimate(one.rival)}{doubt}"


def _joined(phrases: Sequence[str]) -> str:
    """Phrases as a list; a verb that they share is said once."""
    first, *others = phrases
    verb = f"{first.partition(' ')[0]} "
    if others and all(one.startswith(verb) for one in others):
        others = [one.removeprefix(verb) for one in others]
    *before, last = first, *others
    return f"{', '.join(before)} and {last}" if before else last


def _cautions(of: Subject) -> Iterator[str]:
    if of.failed:
        yield f"{of.failed} of {of.episodes} episodes failed and are in none of these numbers."
    if of.retried:
        yield f"{of.retried} of {of.episodes} episodes had failed and were begun anew; provenance.retried names them."
    if of.unusable:
        yield f"{of.unusable} of {of.turns} answers could not be used; they count as steps that were not optimal."
    if of.worlds < FEW_WORLDS:
        yield f"Fewer than {FEW_WORLDS} worlds: an impression, not a finding."
