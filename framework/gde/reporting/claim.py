"""The opening of a report: what the numbers say in a sentence or two, with cautions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gde.data.probe import Fit, ProbeReport
from gde.data.result import FEW_WORLDS, Measurement, Result, Subject
from gde.data.trajectory import Status
from gde.numerics.stats import MINIMUM_CLUSTERS
from gde.reporting.asked import agent_text
from gde.reporting.findings import Beside, Finding, Probed, headlines, probed
from gde.reporting.reading import reading
from gde.reporting.sentences import sentences, told
from gde.reporting.wording import (
    POSITIONS,
    caveats,
    estimate,
    fit_text,
    inline,
    labels_text,
    listed,
    plural,
    quantity,
    values_text,
    verdict_text,
)

CLASSES: Mapping[Status, str] = {
    "invalid_action": "with an inadmissible action",
    "unparsable": "without a readable action",
    "empty": "empty",
    "refusal": "refused",
    "truncated": "truncated by the token limit",
    "error": "without an answer",
}
"""Classes of unusable answers in the words of a caution."""
MOST_UNREAD = 0.05
"""The share of unusable answers above which the claim begins with it."""
LISTED = 3
"""Headlines listed in a sentence where no measure declares a phrase."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """The opening of a report."""

    verdict: str
    """The verdicts on the whole run; empty where no metric gives one."""
    behaviour: str
    """What the agent did."""
    belief: str
    """What its activations say, beside the strongest control; empty without probes."""
    cautions: tuple[str, ...]
    """Reasons for care in reading the numbers."""


def claim(result: Result) -> Claim:
    """Put the numbers of a result into words."""
    found = probed(result)
    numbers = []
    for probe in found:
        for one in probe.numbers:
            numbers.append((one.measure, probe.fit.where))
    limited = _readable(result.subject)
    verdict = " ".join(sentences(result.measurements, result.meanings))
    behaviour = _behaviour(result)
    return Claim(
        verdict=f"{limited}{verdict}" if verdict else "",
        behaviour=behaviour if verdict else f"{limited}{behaviour}",
        belief=_belief(found[0]) if found else "",
        cautions=(*_cautions(result), *caveats(numbers)),
    )


def main_report(reports: Sequence[ProbeReport]) -> ProbeReport | None:
    """The fit of the report: the first that is no control, whatever its score."""
    for report in reports:
        if report.fit.control == "none":
            return report
    return None


def _readable(of: Subject) -> str:
    """What limits every number of a run in which many answers could not be read."""
    if of.unusable <= MOST_UNREAD * of.turns:
        return ""
    if of.unusable == of.turns:
        return f"None of its {of.turns} answers was an action. "
    read = quantity((of.turns - of.unusable) / of.turns, "share", 0)
    return f"Only {read} of answers could be read; the others count as wrong. "


def _behaviour(result: Result) -> str:
    of = result.subject
    worlds = plural(of.worlds, f"{of.environment} world")
    preposition = "In" if of.worlds == 1 else "Across"
    subject = f"{preposition} {worlds}, the agent {agent_text(of, result.models)}"

    # Numbers whose measure has a phrase make a sentence. Of rivals no single number can
    # stand in one.
    every = headlines(result)
    # What the sentences of verdicts tell is told once.
    already = {name for one in every for name in told(one.measure)}
    measured = []
    for one in every:
        if one.numbers[0].value is not None and one.measure.name not in already:
            measured.append(one)
    phrases = []
    for finding in measured:
        if finding.measure.phrase and len(finding.numbers) == 1:
            text = estimate(finding.numbers[0], 0)
            phrases.append(finding.measure.phrase.replace("{}", text))
    if phrases:
        return f"{subject} {_joined(phrases)}."

    if measured:
        listed = "; ".join(_listed(one) for one in measured[:LISTED])
        return f"{subject}: {listed}."

    if already:
        return f"{subject} ran."
    return f"{subject} ran, but no metric of its behaviour has a value."


def _listed(one: Finding) -> str:
    """Title and number; of several numbers the best and the next."""
    best, *others = one.numbers
    title, rest = one.measure.titled(best.where)
    label = f": {labels_text(rest)}" if rest else ""
    text = f"{inline(title)}{label} {estimate(best, 0)}"
    if not others:
        return text
    return f"{text}, next {values_text(others[0].where)} {estimate(others[0], 0)}"


def _belief(found: Probed) -> str:
    fit = found.fit
    if not found.numbers:
        reason = found.reason or "the probe gave no numbers"
        return f"No probe result: {reason}."

    read = reading(found)
    if read:
        sentences = read
    else:
        phrased = [one for one in found.numbers if one.measure.phrase]
        position = POSITIONS.get(fit.position, fit.position)
        probe = f"a probe ({fit.variant}, layer {fit.layer})"
        phrases = _phrases(phrased or found.numbers[:1])
        opening = f"From its activations {position}, {probe} {phrases}"
        sentences = [f"{opening}, in held-out worlds."]
    sentences += _differing_variants(found)
    return " ".join(sentences)


def _phrases(numbers: Sequence[Beside]) -> str:
    """The numbers in words, each with its test."""
    phrases = []
    for one in numbers:
        phrase = one.measure.phrase or f"reaches {inline(one.measure.title)} {{}}"
        sentence = phrase.replace("{}", estimate(one.ours))
        phrases.append(f"{sentence} ({_against_control(one)})")
    return _joined(phrases)


def _differing_variants(found: Probed) -> list[str]:
    """A sentence for each other variant whose first test has another outcome.

    A difference that one variant shows and another does not is a warning: it may lie in
    how the activations encode something, not in whether they do.
    """
    first = found.numbers[0].verdict
    sentences = []
    for fit, one in found.variants:
        verdict = one.verdict
        if first is None or verdict is None or verdict.p is None:
            continue
        if verdict.outcome != first.outcome:
            text = verdict_text(verdict, one.ours.unit)
            title = inline(one.measure.title)
            sentences.append(f"Variant {fit.variant}, {title}: {text}.")
    return sentences


def _against_control(one: Beside) -> str:
    if one.fit is None or one.rival is None:
        return "no control was measured"

    if one.verdict is None:
        return f"{fit_text(one.fit)} {estimate(one.rival)}, not tested"
    return verdict_text(one.verdict, one.ours.unit)


def _joined(phrases: Sequence[str]) -> str:
    """Phrases as a list; a verb that all share appears once."""
    first, *others = phrases
    first_word, _, _ = first.partition(" ")
    verb = f"{first_word} "
    if all(one.startswith(verb) for one in others):
        others = [one.removeprefix(verb) for one in others]

    return listed([first, *others])


def _cautions(result: Result) -> list[str]:
    of = result.subject
    cautions = []
    episodes = plural(of.episodes, "episode")
    if of.failed:
        cautions.append(f"{of.failed} of {episodes} failed; no number includes them.")
    if of.retried:
        cautions.append(
            f"{of.retried} of {episodes} were retried after a failure; see provenance.retried."
        )
    if of.unusable:
        answers = plural(of.turns, "answer")
        cautions.append(
            f"{of.unusable} of {answers} could not be read and count as wrong."
        )
    for one in of.unusable_classes:
        cautions.append(f"{one.answers} {CLASSES[one.status]}, e.g. {one.example}")
    cautions += _unprobed(result)
    if of.worlds < FEW_WORLDS:
        cautions.append(f"Fewer than {FEW_WORLDS} worlds: too few for a conclusion.")
    if any(map(_lacks_clusters, result.measurements)):
        cautions.append(
            f"No interval from fewer than {MINIMUM_CLUSTERS} clusters of worlds."
        )
    return cautions


def _unprobed(result: Result) -> list[str]:
    """Positions that a probe was not fitted at, although nothing failed."""
    failed = {failure.subject for failure in result.failures}
    sentences: dict[str, None] = {}
    for one in result.measurements:
        fit = Fit.of(one)
        if fit and one.reason and one.name == fit.probe and fit.name not in failed:
            position = POSITIONS.get(fit.position, fit.position)
            sentences[f"Probe {fit.probe} {position}: {one.reason}."] = None
    return list(sentences)


def _lacks_clusters(one: Measurement) -> bool:
    """Whether a number has too few clusters for an interval."""
    few = one.clusters is not None and one.clusters < MINIMUM_CLUSTERS
    return few and one.value is not None
