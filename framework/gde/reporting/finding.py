"""What a run has found: its subject, one sentence, and what limits it."""

from collections.abc import Iterator, Mapping, Sequence

from gde.data.measure import Measure
from gde.data.probe import Fit, ProbeReport
from gde.data.result import Measurement, Result, Subject
from gde.data.trajectory import Status
from gde.numerics.stats import MINIMUM_CLUSTERS
from gde.reporting.asked import agent_model, agent_text
from gde.reporting.findings import (
    Beside,
    Finding,
    Probed,
    among_baselines,
    by_condition,
    early_of,
    headlines,
    probed,
)
from gde.reporting.forest import is_judged
from gde.reporting.opening import Opening, record_limits, worlds_limit, worlds_text
from gde.reporting.sentences import sentences, told
from gde.reporting.wording import (
    at_position,
    caveats,
    estimate,
    inline,
    labels_text,
    listed,
    plural,
    quantity,
    short,
    titled,
    values_text,
)
from gde.stages.learning import EARLY

CLASSES: Mapping[Status, str] = {
    "invalid_action": "with an inadmissible action",
    "unparsable": "without a readable action",
    "empty": "empty",
    "refusal": "refused",
    "truncated": "truncated by the token limit",
    "error": "without an answer",
}
"""Classes of unusable answers in words."""
OUTCOMES = {
    "none": "no difference is shown",
    "worse": "it is worse",
    "different": "they differ",
    "untested": "not tested",
}
"""What is said of a reader that is not better than its control."""


FEW_A_CONDITION = 60
"""Below as many worlds in a condition, the limits say so."""


def opening(result: Result) -> Opening:
    """Put the numbers of a result into words."""
    found = probed(result)
    of = result.subject
    # Three numbers are enough for a finding: the rest of a verdict is a note.
    verdicts = sentences(result.measurements, result.meanings, brief=True)
    parts = [_readable(of), *verdicts, _behaviour(result, bool(found or verdicts))]
    if found:
        parts.append(_belief(found[0]))
    return Opening(
        subject=_subject(result),
        finding=" ".join(filter(None, parts)),
        limits=tuple(_limits(result, found)),
        notes=tuple(_notes(result, found, verdicts)),
    )


def main_report(reports: Sequence[ProbeReport]) -> ProbeReport | None:
    """The fit of the report: the first that is no control, whatever its score."""
    for report in reports:
        if report.fit.control == "none":
            return report
    return None


def _subject(result: Result) -> str:
    of = result.subject
    episodes = "" if of.episodes == of.worlds else plural(of.episodes, "episode")
    agent = agent_text(of, result.models)
    return " \u00b7 ".join(
        filter(None, [agent, of.environment, worlds_text(result), episodes])
    )


def _readable(of: Subject) -> str:
    """What limits every number of a run in which many answers could not be read."""
    if of.readable is None or of.is_readable:
        return ""
    if of.unusable == of.turns:
        return f"None of its {of.turns} answers was an action."
    read = quantity(of.readable, "share", 0)
    return f"Only {read} of answers could be read; the others count as wrong."


def _behaviour(result: Result, brief: bool) -> str:
    """What the agent did, in the words of the first headline that has some.

    Args:
        result: the result.
        brief: whether a control is told only where the agent is not shown to be better.
    """
    # The line above names the agent too.
    of = result.subject
    agent = short(agent_model(of, result.models) or agent_text(of, result.models))
    # What the sentences of verdicts tell is told once.
    every = headlines(result)
    already = {name for one in every for name in told(one.measure)}
    measured = []
    for one in every:
        if one.numbers[0].value is not None and one.measure.name not in already:
            measured.append(one)
    # Of rivals no single number can stand in a sentence.
    for one in measured:
        if one.measure.phrase and len(one.numbers) == 1:
            compared = among_baselines(one.numbers[0], one.measure, result)
            did = one.measure.phrase.replace("{}", _value(compared.ours))
            against = _against(compared, brief) if is_judged(result.subject) else ""
            ranging = _ranging(one, result)
            # Three numbers are enough: those of conditions stand for the control.
            ends = ranging if " to " in ranging else f"{ranging}{against}"
            return f"{agent} {did}{ends}."
    if measured:
        return f"{_first(measured[0], agent)}."
    return "" if already else f"{agent}: no metric of its behaviour has a value."


def _ranging(one: Finding, result: Result) -> str:
    """The least and the most over the conditions of a sweep; empty for none."""
    values = [
        (each.value, each)
        for each in by_condition(result, one.measure.name)
        if each.value is not None
    ]
    if len(values) < 2:
        return ""
    (low, least), (high, most) = (
        choose(values, key=lambda pair: pair[0]) for choose in (min, max)
    )
    if low == high:
        return f" in each of {len(values)} conditions"
    return f", from {_value(least)} ({labels_text(least.where)}) to {_value(most)} by condition"


def _first(one: Finding, agent: str) -> str:
    """Title and number; of several numbers the best and the next.

    Contenders, e.g. reward models, are the subject in the agent's place.
    """
    best, *others = one.numbers
    text = f"{titled(one.measure, best.where)} {_value(best)}"
    if others and others[0].value is not None:
        text += f", next {values_text(others[0].where)} {_value(others[0])}"
    return text if one.measure.contender else f"{agent}: {inline(text)}"


def _value(one: Measurement) -> str:
    return estimate(one) if one.value is None else quantity(one.value, one.unit, 0)


def _against(one: Beside, brief: bool = False) -> str:
    """A number's control and the verdict, as the end of a sentence."""
    if one.rival is None or one.rival.value is None:
        return ""
    control = f"{one.control} ({_value(one.rival)})"
    match one.outcome:
        case "better":
            return "" if brief else f", better than {control}"
        case "none":
            return f", not shown to differ from {control}"
        case "untested":
            return f", not tested against {control}"
        case outcome:
            relation = "other" if outcome == "different" else "worse"
            return f", {relation} than {control}"


def _belief(found: Probed) -> str:
    """What a reader of activations finds, beside its strongest control."""
    if not found.numbers:
        return f"No probe result: {found.reason or 'the probe gave no numbers'}."
    early = early_of(found)
    position = at_position(found.fit.position)
    if not early:
        first = found.numbers[0]
        phrase = first.measure.phrase or f"reaches {inline(first.measure.title)} {{}}"
        text = phrase.replace("{}", _value(first.ours))
        where = f"From its activations {position}, a probe"
        return f"{where} {text}{_against(first)}."

    told = _told(early)
    things = listed([_thing(one.measure) for one in told])
    ours = [one.ours.value or 0.0 for one in told]
    least, most = ("\u2265 ", "\u2264 ") if len(told) > 1 else ("", "")
    read = f"{least}{quantity(min(ours), 'share', 0)} of unseen turns"
    sentence = f"Probes given few worlds find {things} {position} in {read}"
    rivals = [one.rival for one in told if one.rival is not None]
    if len(rivals) < len(told):
        return f"{sentence}."
    rival = quantity(max(one.value or 0.0 for one in rivals), "share", 0)
    control = listed([*dict.fromkeys(one.control for one in told)])
    sentence += f" ({control}: {most}{rival})"
    if told[0].outcome == "better":
        return f"{sentence}."
    outcomes = dict.fromkeys(OUTCOMES[one.outcome] for one in told)
    return f"{sentence}: {listed([*outcomes])}."


def _thing(measure: Measure) -> str:
    return measure.name.rpartition(".")[2]


def _told(early: Sequence[Beside]) -> Sequence[Beside]:
    """What a finding tells: what is read better than from a control, else all."""
    return [one for one in early if one.outcome == "better"] or early


def _limits(result: Result, found: Sequence[Probed]) -> Iterator[str]:
    of = result.subject
    if of.unusable and of.is_readable:
        yield f"{of.unusable} of {of.turns} answers unusable"
    yield from record_limits([result])
    for probe in found[:1]:
        yield from _not_better(probe)
        yield from _differing_variants(probe)
    yield from worlds_limit([result])
    for finding in headlines(result)[:1]:
        counts = [
            one.clusters or one.n for one in by_condition(result, finding.measure.name)
        ]
        # The ends of a range over many conditions of few worlds are mostly chance.
        if len(counts) > 1 and min(counts) < FEW_A_CONDITION:
            yield f"as few as {plural(min(counts), 'world')} in a condition"


def _not_better(found: Probed) -> list[str]:
    """What a reader does not find better than from its control, and is not told."""
    early = early_of(found)
    told = _told(early)
    limits: dict[tuple[bool, str, str], list[str]] = {}
    for one in found.numbers if early else found.numbers[1:]:
        if one in told or one.rival is None or one.outcome not in ("worse", "none"):
            continue
        relation = "worse" if one.outcome == "worse" else "no better"
        of_all = one.measure.name.replace(f"{found.fit.probe}.", "", 1)
        is_late = any(each.measure.name.endswith(f"{EARLY}.{of_all}") for each in early)
        what = _thing(one.measure) if is_late else inline(one.measure.title)
        limits.setdefault((is_late, relation, one.control), []).append(what)

    said = []
    named = ""
    for (is_late, relation, control), things in limits.items():
        # What the finding has named, and the control of the limit before, are known.
        known = [_thing(one.measure) for one in told]
        whose = "" if is_late and things == known else listed(things)
        given = "given all" if is_late else ""
        subject = ", ".join(filter(None, [whose, given]))
        comma = "," if given else ""
        than = "" if control == named else f" than {control}"
        said.append(f"{subject}{comma} {relation}{than}")
        named = control
    return said


def _differing_variants(found: Probed) -> list[str]:
    """The other variants whose first test has another outcome.

    A difference that one variant shows and another does not is a warning: it may lie in
    how the activations encode something, not in whether they do.
    """
    if not found.numbers:
        return []
    first = found.numbers[0].outcome
    return [
        f"variant {fit.variant}: {inline(one.measure.title)} {one.outcome}"
        for fit, one in found.variants
        if "untested" not in (first, one.outcome) and one.outcome != first
    ]


def _notes(
    result: Result, found: Sequence[Probed], verdicts: Sequence[str]
) -> list[str]:
    of = result.subject
    whole = sentences(result.measurements, result.meanings)
    notes = [each for each in whole if each not in verdicts]
    episodes = plural(of.episodes, "episode")
    if of.failed:
        notes.append(f"{of.failed} of {episodes} failed; no number includes them.")
    if of.retried:
        notes.append(
            f"{of.retried} of {episodes} were retried after a failure; see provenance.retried."
        )
    if of.impossible:
        worlds = plural(of.worlds, "world")
        notes.append(f"{of.impossible} of {worlds} cannot be solved.")
    remarks = result.provenance.get("remarks")
    if isinstance(remarks, list):
        notes += [f"{one}." for one in remarks]
    if of.unusable and of.is_readable:
        answers = plural(of.turns, "answer")
        notes.append(
            f"{of.unusable} of {answers} could not be read and count as wrong."
        )
    for each in of.unusable_classes:
        notes.append(f"{each.answers} {CLASSES[each.status]}, e.g. {each.example}")
    notes += _unprobed(result)
    if any(map(_lacks_clusters, result.measurements)):
        notes.append(
            f"No interval from fewer than {MINIMUM_CLUSTERS} clusters of worlds."
        )
    numbers = [
        (one.measure, probe.fit.where) for probe in found for one in probe.numbers
    ]
    return [*notes, *caveats(numbers)]


def _unprobed(result: Result) -> list[str]:
    """Positions that a probe was not fitted at, although nothing failed."""
    failed = {failure.subject for failure in result.failures}
    found: dict[str, None] = {}
    for one in result.measurements:
        fit = Fit.of(one)
        if fit is None or fit.name in failed:
            continue
        if one.value is None and one.name == fit.probe:
            position = at_position(fit.position)
            found[f"Probe {fit.probe} {position}: {one.reason}."] = None
    return list(found)


def _lacks_clusters(one: Measurement) -> bool:
    """Whether a number has too few clusters for an interval."""
    few = one.clusters is not None and one.clusters < MINIMUM_CLUSTERS
    return few and one.value is not None
