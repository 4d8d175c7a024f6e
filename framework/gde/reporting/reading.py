"""What can be read from activations, in words: by a reader shown all training worlds, and
by one shown a quarter of them, beside the strongest control.
"""

from collections.abc import Mapping, Sequence

from gde.data.verdict import Verdict
from gde.reporting.findings import Beside, Probed
from gde.reporting.wording import (
    CONTROLS,
    POSITIONS,
    SPACE,
    certainty,
    listed,
    number,
)
from gde.stages.learning import EARLY


def reading(found: Probed) -> list[str]:
    """Sentences about what a probe finds; none for a probe of another kind.

    For example "Before reasoning, agent and goal can be read at layer 3 in 100 and 100 %
    of held-out turns; from random weights in 92 and 95 % (no difference shown). A reader
    shown 35 worlds: 99 and 97 against 25 and 30 % (outside all 19 random
    initialisations)."
    """
    probe = found.fit.probe
    by_name = {one.measure.name.removeprefix(f"{probe}."): one for one in found.numbers}
    early = {name: one for name, one in by_name.items() if name.startswith(f"{EARLY}.")}
    kinds = {name.removeprefix(f"{EARLY}.").rpartition(".")[0] for name in early}
    late = {
        name: one
        for name, one in by_name.items()
        if name not in early and name.rpartition(".")[0] in kinds
    }
    if not late:
        return []

    things = listed([_thing(name) for name in late])
    position = POSITIONS.get(found.fit.position, found.fit.position)
    where = f"{position[:1].upper()}{position[1:]}, {things} can be read at layer {found.fit.layer}"
    whole = list(late.values())
    sentence = (
        f"{where} in {_values([one.ours.value for one in whole])} of held-out turns"
    )
    rivals = [one.rival.value for one in whole if one.rival is not None]
    if len(rivals) == len(whole):
        sentence += f"; from {_control(whole)} in {_values(rivals)}"
        sentence += f" ({_outcomes(late)})"
    sentences = [f"{sentence}."]

    few = list(early.values())
    shown = _values([one.ours.value for one in few])
    beaten = [one.rival.value for one in few if one.rival is not None]
    if len(beaten) == len(few):
        shown = f"{shown.removesuffix(f'{SPACE}%')} against {_values(beaten)}"
        # The sentence before names the controls of readers shown all worlds.
        if len(rivals) < len(whole) or _control(few) != _control(whole):
            shown = f"{shown} from {_control(few)}"
    of = (
        f" ({listed([_thing(name) for name in early])})" if len(few) < len(late) else ""
    )
    sentences.append(
        f"A reader shown {found.early_worlds} worlds{of}: {shown} ({_outcomes(early)})."
    )

    others = [name for name in by_name if name not in early and name not in late]
    for name in others:
        verdict = by_name[name].verdict
        if verdict is not None and verdict.outcome in ("better", "worse"):
            thing = _thing(name)
            than = _control([by_name[name]])
            sentences.append(
                f"{thing.capitalize()}s are read {verdict.outcome} than from {than}."
            )
    return sentences


def _thing(name: str) -> str:
    return name.rpartition(".")[2]


def _values(values: Sequence[float | None]) -> str:
    """Shares in per cent, e.g. "98 and 94 %"."""
    texts = [number(value, "share", 0) for value in values if value is not None]
    return f"{listed(texts)}{SPACE}%"


def _control(numbers: Sequence[Beside]) -> str:
    """The strongest controls of some numbers."""
    names = dict.fromkeys(one.fit.control for one in numbers if one.fit is not None)
    return listed([CONTROLS[name][0] for name in names])


def _outcomes(early: Mapping[str, Beside]) -> str:
    """The outcomes of the tests, said once where they are alike."""
    texts = {}
    for name, one in early.items():
        texts[_thing(name)] = _outcome(one.verdict)
    if len(set(texts.values())) == 1:
        return next(iter(texts.values()))
    return "; ".join(f"{thing}: {text}" for thing, text in texts.items())


def _outcome(verdict: Verdict | None) -> str:
    if verdict is None:
        return "no control was tested"
    match verdict.outcome:
        case "untested":
            return f"not tested: {verdict.reason}"
        case "none":
            return "no difference shown"
        case "better":
            return certainty(verdict)
        case _:
            return f"{verdict.outcome}, {certainty(verdict)}"
