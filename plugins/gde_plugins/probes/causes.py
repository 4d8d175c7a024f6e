"""Does what a probe finds cause what the agent does? Turns asked again with the residual stream changed.

A direction that a probe decodes may be one that the model never uses. So the same requests are answered with and
without a change, with the same random numbers, and the change counts as a cause where it moves the answers as
predicted, and further than changes of the same size that should not.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gde.data.activations import Intervention
from gde.data.completion import ChatRequest, Completion
from gde.data.json import Labels
from gde.data.result import Measurement
from gde.numerics.episodes import unmeasured
from gde.numerics.stats import Difference, adjusted, holm, paired_difference
from gde.parts.language_model import WhiteBox
from gde.seeding import derive
from gde_plugins.probes.interventions import differ, outcomes
from gde_plugins.probes.ways import Actions, way

ALPHA = 0.05


@dataclass(frozen=True, kw_only=True)
class Case:
    """One turn that is asked again."""

    request: ChatRequest
    world: str
    """Cases of one world are no independent observations."""
    predicted: frozenset[str | None]
    """Actions that a change is predicted to bring about; None for an answer that cannot be used."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """One way of changing the stream in every case."""

    name: str
    """"steering", "patching", "ablation" ..."""
    layer: int
    dose: float = 1.0
    control: str = ""
    """What it is a control by, e.g. "random direction"; empty for the change that is tested."""
    interventions: tuple[tuple[Intervention, ...], ...] = ()
    """Of each case."""
    instead: tuple[ChatRequest, ...] = ()
    """What is asked instead in each case, without interventions: a change of the prompt itself, which shows how far a
    change of the stream could go."""

    @property
    def where(self) -> Labels:
        """Which change a number is of."""
        return {"change": self.name, "layer": self.layer, "dose": self.dose, "control": self.control or "none"}


@dataclass(frozen=True, kw_only=True)
class _Found:
    """What a change did."""

    change: Change
    difference: Difference
    effects: NDArray[np.float64]
    """(cases,) by how much more often a predicted action was taken."""
    taken: list[list[str | None]]
    """The actions of each case."""
    moved: float
    reason: str = ""
    """Why its numbers mean nothing."""


Read = Callable[[Case, Completion], Awaitable[str | None]]
"""The action that an answer to a case comes to; None for one that cannot be used."""


async def causal_effects(
    model: WhiteBox,
    cases: Sequence[Case],
    changes: Sequence[Change],
    read: Read,
    rng: np.random.Generator,
    samples: int = 1,
    twins: Sequence[ChatRequest] = (),
) -> list[Measurement]:
    """The average causal effects of changes on the predicted actions.

    "effect": by how much more often, in shares, a predicted action is taken with the change than without, paired by
    case, with its interval over worlds; "moved": how often the action is another; "p", the two-sided permutation test
    of the effect corrected after Holm over all changes that are no controls, e.g. layers and doses; and "excess", of
    those changes, the effect beyond the control of the same name, layer and dose, or of the same name and layer, that
    comes nearest, with its interval. `is_cause` reads them. A change that leaves the forward pass of any case as it is
    has a reason instead of numbers.

    With `twins`, "way" of changes of the stream: how much of the way from the cases' own distributions of actions to
    their twins' they make (see `ways.way`), with its interval.

    Args:
        model: gives activations and takes interventions.
        cases: at least one.
        changes: each with its interventions for every case.
        read: what an answer comes to.
        rng: for resampling.
        samples: answers to each case and change, their random numbers the same in every change.
        twins: of each case the prompt whose actions the changes should bring about; none where there is no such prompt.

    Raises:
        GdeError: a change that the model refuses.
    """
    plain = await _answers(model, cases, Change(name="", layer=0), samples)
    unchanged, untouched = await _actions(plain, cases, read), _Untouched(model, plain, changes)
    worlds, before, found = [case.world for case in cases], _hits(unchanged, cases), []
    for change in changes:
        reason = untouched.reason(change)
        taken = unchanged if reason else await _actions(await _answers(model, cases, change, samples), cases, read)
        effects = _hits(taken, cases) - before
        found.append(
            _Found(
                change=change,
                difference=paired_difference(before + effects, before, worlds, rng),
                effects=effects,
                taken=taken,
                moved=float(np.mean([one != other for one, other in zip(_flat(taken), _flat(unchanged), strict=True)])),
                reason=reason,
            )
        )
    reported = [*_reported(found, worlds, rng)]
    if not twins:
        return reported
    asked = Change(name="", layer=0, instead=tuple(twins))
    there = await _actions(await _answers(model, cases, asked, samples), cases, read)
    return reported + [_way(one, unchanged, there, worlds, rng) for one in found if not one.change.instead]


def is_cause(measurements: Sequence[Measurement], change: Change) -> bool:
    """Whether a change moves the answers as predicted, and beyond its controls: its corrected p value is below 5 %, its
    effect positive, and the interval of its excess above zero."""
    numbers = {one.name: one for one in measurements if one.where == change.where}
    p, effect, excess = (numbers[name] for name in ("p", "effect", "excess"))
    significant = p.value is not None and p.value < ALPHA and (effect.value or 0) > 0
    return significant and (excess.interval is None or excess.interval[0] > 0) and (excess.value or 0) > 0


async def _answers(model: WhiteBox, cases: Sequence[Case], change: Change, samples: int) -> list[list[Completion]]:
    """For each case its answers, one a sample."""
    requests = change.instead or [case.request for case in cases]
    asked = [
        replace(request, seed=derive(case.request.seed, "cause", sample), interventions=changes)
        for case, request, changes in zip(cases, requests, change.interventions or [()] * len(cases), strict=True)
        for sample in range(samples)
    ]
    answers = await asyncio.gather(*map(model.complete, asked))
    return [list(answers[first : first + samples]) for first in range(0, len(asked), samples)]


async def _actions(
    answers: Sequence[Sequence[Completion]], cases: Sequence[Case], read: Read
) -> list[list[str | None]]:
    return [[await read(case, one) for one in of_case] for case, of_case in zip(cases, answers, strict=True)]


def _flat(actions: Sequence[Sequence[str | None]]) -> list[str | None]:
    return [one for of_case in actions for one in of_case]


def _hits(actions: Sequence[Sequence[str | None]], cases: Sequence[Case]) -> NDArray[np.float64]:
    """(cases,) share of the answers that are as predicted."""
    shares = [np.mean([one in case.predicted for one in taken]) for taken, case in zip(actions, cases, strict=True)]
    return np.array(shares, dtype=np.float64)


class _Untouched:
    """What the prompts of all cases leave as they are."""

    def __init__(self, model: WhiteBox, plain: Sequence[Sequence[Completion]], changes: Sequence[Change]) -> None:
        self._model, self._asked = model, [of_case[0] for of_case in plain]
        self._marks = tuple({each.mark for change in changes for made in change.interventions for each in made})
        self._records = outcomes(model, self._asked, [()] * len(self._asked), self._marks)

    def reason(self, change: Change) -> str:
        """Why a change is none; empty where it is one in every case."""
        if change.instead:
            return ""
        changed = outcomes(self._model, self._asked, change.interventions, self._marks)
        same = sum(not differ(*pair) for pair in zip(self._records, changed, strict=True))
        return f"it changed nothing in the forward pass of {same} of {len(self._asked)} cases" if same else ""


def _reported(found: Sequence[_Found], worlds: Sequence[str], rng: np.random.Generator) -> Iterator[Measurement]:
    tested = [one.difference for one in found if not one.change.control and not one.reason]
    corrected = iter(adjusted([difference.permutation.p_value for difference in tested], holm))
    for one in found:
        n = len(one.effects)
        names = ("effect", "moved") if one.change.control else ("effect", "moved", "p", "excess")
        if one.reason:
            numbers = [unmeasured(name, "share", one.reason) for name in names]
        else:
            numbers = [
                one.difference.estimate.measurement("effect", "share"),
                Measurement(name="moved", value=one.moved, unit="share", n=n),
            ]
        if not one.change.control and not one.reason:
            significance = replace(one.difference.permutation, p_value=next(corrected)).significance("p", n)
            numbers += [significance, _excess(one, found, worlds, rng)]
        yield from (replace(each, where=one.change.where) for each in numbers)


def _way(one: _Found, before: Actions, twins: Actions, worlds: Sequence[str], rng: np.random.Generator) -> Measurement:
    found = unmeasured("way", "share", one.reason) if one.reason else way(before, one.taken, twins, worlds, rng)
    return replace(found, where=one.change.where)


def _excess(one: _Found, found: Sequence[_Found], worlds: Sequence[str], rng: np.random.Generator) -> Measurement:
    controls = [each for each in found if each.change.control and each.change.name == one.change.name]
    controls = [each for each in controls if not each.reason and each.change.layer == one.change.layer]
    same = [each for each in controls if each.change.dose == one.change.dose] or controls
    if not same:
        return unmeasured("excess", "share", f"{one.change.name} has no control")
    nearest = max(same, key=lambda each: float(each.effects.mean()))
    return paired_difference(one.effects, nearest.effects, worlds, rng).estimate.measurement("excess", "share")
