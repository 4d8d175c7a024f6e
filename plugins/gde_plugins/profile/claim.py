"""The claim of a profile: its finding, then a sentence for each section."""

from collections.abc import Mapping, Sequence

from gde.data.result import Measurement
from gde.data.verdict import Outcome
from gde.parts.reproduction import Comparison
from gde.reporting.wording import CONTROLS, MINUS, quantity
from gde_plugins.profile.plans import BLIND, CHANGED
from gde_plugins.profile.rows import CALLED, ERRS

RELATIONS: Mapping[Outcome, str] = {
    "better": "better than",
    "worse": "worse than",
    "different": "other than",
    "none": "not shown to differ from",
    "untested": "not tested against",
}
Found = Mapping[tuple[str, str], Comparison]


def claim(found: Sequence[Comparison]) -> list[str]:
    """What the agent does and believes; why it errs, what it wants, answers, judges."""
    by_place = {(row.source, row.quantity): row for row in found}
    finding = " ".join(filter(None, (_does(by_place), _believes(by_place))))
    sentences = (
        _errs(found),
        _caused(by_place),
        _wants(by_place),
        _answers(by_place),
        _judges(by_place),
    )
    return [finding or "has no number in the grids.", *filter(None, sentences)]


def _value(found: Found, plan: str, quantity: str) -> Measurement | None:
    row = found.get((plan, quantity))
    return row.ours if row and row.ours.value is not None else None


def _told(one: Measurement) -> str:
    """A share with its interval, in percent."""
    assert one.value is not None
    if one.interval is None:
        return _percent(one.value)
    low, high = one.interval
    return f"{_percent(one.value)} [{100 * low:.0f}, {100 * high:.0f}]"


def _percent(share: float) -> str:
    return quantity(share, "share", 0)


def _points(difference: float) -> str:
    """A difference of two shares with its sign."""
    return f"{100 * difference:+.0f} points".replace("-", MINUS)


def _does(found: Found) -> str:
    success = _value(found, "grids", "Success rate")
    if success is None or success.value is None:
        return ""
    told = f"reached the goal in {_percent(success.value)} of grids"
    verdict = success.verdict
    if verdict is None or verdict.outcome == "better":
        return f"{told}."
    return f"{told}, {RELATIONS[verdict.outcome]} random moves."


def _errs(found: Sequence[Comparison]) -> str:
    causes = [row for row in found if row.table == ERRS and row.source == "grids"]
    known = [row for row in causes if row.ours.value]
    if not known:
        return ""
    first = max(known, key=lambda row: row.ours.value or 0)
    cause = first.quantity.lower()
    attributed = cause if cause == "unexplained" else f"attributed to: {cause}"
    sentence = (
        f"Of {first.ours.n} actions that were not optimal, {_told(first.ours)} are"
        f" {attributed}"
    )
    chance = first.others.get("by chance")
    if chance and chance.value is not None:
        sentence += f" (random actions: {_percent(chance.value)})"
    return f"{sentence}."


def _believes(found: Found) -> str:
    row = found.get(("beliefs", "Goal decoded in its cell"))
    if row is None or row.ours.value is None:
        return ""
    told = f"A probe of its activations finds the goal in {_percent(row.ours.value)} of held-out turns"
    verdict = row.ours.verdict
    if verdict is None:
        return f"{told}."
    control, _ = CONTROLS[verdict.control]
    apart = ""
    if verdict.outcome == "better":
        apart = f"{quantity(verdict.difference, 'share', 0).replace('%', 'points')} "
    return f"{told}, {apart}{RELATIONS[verdict.outcome]} {control}."


def _caused(found: Found) -> str:
    """Which of the places that were changed in the activations its actions follow."""
    tested = [row for row in found.values() if CALLED in row.others]
    if not tested:
        return ""

    causes = []
    for thing in CHANGED:
        own = [row for row in tested if f"of the {thing}," in row.quantity]
        if any(row.others[CALLED].value for row in own):
            causes.append(f"the place of the {thing}")
    if not causes and not any("p" in row.others for row in tested):
        return "Patching and steering change too few actions to be tested."
    if not causes:
        return "Patching and steering show no cause of its actions."
    return f"Patching and steering show that {' and '.join(causes)} causes its actions."


def _wants(found: Found) -> str:
    told = []
    for plan, title, where in (
        ("grids", "Goal-directed, p", "in the grids"),
        ("goal-swap", "Goal moved, p", "when the goal is moved"),
    ):
        one = _value(found, plan, title)
        if one:
            verdict = one.where.get("verdict", "not shown")
            told.append(f"{where}: {verdict} (p {one.value:.2g})")
    return f"Goal-directed {'; '.join(told)}." if told else ""


def _answers(found: Found) -> str:
    told = []
    for plan, title in (
        ("predict", "Predict"),
        ("plan", "Plan"),
        ("decompose", "Decompose"),
    ):
        one = _value(found, plan, f"{title}, above blind")
        if one and one.value is not None:
            told.append(f"{title} {_points(one.value)}")
    if not told:
        return ""
    return f"On BabyAI questions, beside the best blind answers: {', '.join(told)}."


def _judges(found: Found) -> str:
    judge = _value(found, "judge", "EPIC distance of the judge")
    blind = _value(found, BLIND, "EPIC distance, reads nothing")
    if not judge or not blind:
        return ""
    return (
        f"As a judge of progress its EPIC distance is {judge.value:.2f}, and"
        f" {blind.value:.2f} without reading anything."
    )
