"""The opening of a report: what the numbers say in a sentence or two, with cautions."""

from collections.abc import Sequence
from dataclasses import dataclass

from gde.data.probe import ProbeReport
from gde.data.result import FEW_WORLDS, Result, Subject
from gde.reporting.findings import Beside, Finding, Probed, findings, headlines, probed
from gde.reporting.wording import POSITIONS, caveats, estimate, fit_text, inline, labels_text, plural

TOLD = 3
"""Headlines listed in a sentence where no measure declares a phrase."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """The opening of a report."""

    behaviour: str
    """What the agent did."""
    belief: str
    """What its activations say, beside the strongest control; empty without probes."""
    cautions: tuple[str, ...]
    """Reasons for care in reading the numbers."""


def claim(result: Result) -> Claim:
    """Put the numbers of a result into words."""
    found = probed(result)
    belief = _belief(found[0]) if found else ""

    numbers = []
    for probe in found:
        numbers += [(one.measure, probe.fit.where) for one in probe.numbers]
    cautions = [*_cautions(result.subject), *caveats(numbers)]
    return Claim(behaviour=_behaviour(result), belief=belief, cautions=tuple(cautions))


def main_report(reports: Sequence[ProbeReport]) -> ProbeReport | None:
    """The fit that a report is about: the first that is no control, however well it did."""
    return next((report for report in reports if report.fit.control == "none"), None)


def _behaviour(result: Result) -> str:
    of = result.subject
    worlds = plural(of.worlds, f"{of.environment} world")
    subject = f"{'In' if of.worlds == 1 else 'Across'} {worlds}, the agent {of.agent}"

    measured = [one for one in headlines(result) if one.numbers[0].value is not None]
    phrased = [one for one in measured if one.measure.phrase and len(one.numbers) == 1]
    if phrased:
        phrases = [one.measure.phrase.replace("{}", estimate(one.numbers[0], 0)) for one in phrased]
        return f"{subject} {_joined(phrases)}."

    if measured:
        listed = "; ".join(_listed(one) for one in measured[:TOLD])
        return f"{subject}: {listed}."

    broken_down = [one for one in findings(result) if one.by]
    if broken_down:
        titles = [inline(one.measure.titled({})[0]) for one in broken_down[:TOLD]]
        keys = dict.fromkeys(key for one in broken_down for key in one.by)
        return f"{subject}: {_joined(titles)} by {_joined(list(keys))}."

    return f"{subject} was run, but none of its behaviour was measured."


def _listed(one: Finding) -> str:
    """Title and number; of several numbers the best and the next."""
    best, *others = one.numbers
    title, rest = one.measure.titled(best.where)
    label = f": {labels_text(rest)}" if rest else ""
    text = f"{inline(title)}{label} {estimate(best, 0)}"
    if not others:
        return text

    second = others[0]
    _, rest = one.measure.titled(second.where)
    name = labels_text(rest) or " ".join(map(str, second.where.values()))
    return f"{text}, next {name} {estimate(second, 0)}"


def _belief(found: Probed) -> str:
    fit = found.fit
    if not found.numbers:
        return f"Nothing was decoded from its activations: {found.reason or 'the probe gave no numbers'}."

    phrased = [one for one in found.numbers if one.measure.phrase]
    decoded = []
    for one in phrased or found.numbers[:1]:
        phrase = one.measure.phrase or f"reaches {inline(one.measure.title)} {{}}"
        decoded.append(f"{phrase.replace('{}', estimate(one.ours))} ({_against_control(one)})")
    probe = (
        f"From its activations {POSITIONS.get(fit.position, fit.position)}, a probe ({fit.variant}, layer {fit.layer})"
    )
    return f"{probe} {_joined(decoded)}, in held-out worlds."


def _against_control(one: Beside) -> str:
    if one.fit is None or one.rival is None:
        return "no control was measured"
    has_direction = bool(one.measure.better)
    control = f"{'best' if has_direction else 'nearest'} control, {fit_text(one.fit)}: {estimate(one.rival)}"

    if one.clear:
        return control
    if one.beaten:
        return f"{control}, which does better"
    return f"{control}, not clearly {'worse' if has_direction else 'different'}"


def _joined(phrases: Sequence[str]) -> str:
    """Phrases as a list; a verb that all share appears once."""
    first, *others = phrases
    verb = first.partition(" ")[0] + " "
    if others and all(one.startswith(verb) for one in others):
        others = [one.removeprefix(verb) for one in others]

    *before, last = first, *others
    return f"{', '.join(before)} and {last}" if before else last


def _cautions(of: Subject) -> list[str]:
    cautions = []
    if of.failed:
        cautions.append(f"{of.failed} of {plural(of.episodes, 'episode')} failed; no number includes them.")
    if of.retried:
        cautions.append(
            f"{of.retried} of {plural(of.episodes, 'episode')} failed at first and were run again; "
            "provenance.retried names them."
        )
    if of.unusable:
        cautions.append(
            f"{of.unusable} of {plural(of.turns, 'answer')} could not be used; they count as non-optimal steps."
        )
    if of.worlds < FEW_WORLDS:
        cautions.append(f"Fewer than {FEW_WORLDS} worlds: an impression, not a finding.")
    return cautions
