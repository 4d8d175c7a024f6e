"""Causal effects: does a change of the residual stream change the agent's actions?

A direction that a probe decodes may be one that the model never uses. The same requests
are therefore answered with and without a change, with the same random numbers. The
change is a cause if it moves the answers as predicted, and further than control changes
of the same size.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gde.data.activations import Intervention
from gde.data.completion import ChatRequest, Completion
from gde.data.json import Labels
from gde.data.result import Measurement
from gde.numerics.episodes import unmeasured
from gde.numerics.stats import Difference, adjusted, holm, paired_difference
from gde.parts.language_model import WhiteBox
from gde.seeding import derive
from gde_plugins.probes.arrays import Doubles
from gde_plugins.probes.causes import normalised_shift
from gde_plugins.probes.causes.interventions import deepest_activations, differ
from gde_plugins.probes.causes.normalised_shift import Actions

ALPHA = 0.05


@dataclass(frozen=True, kw_only=True)
class Case:
    """A replayed turn."""

    request: ChatRequest
    world: str
    """The cluster: cases of one world are no independent observations."""
    predicted: frozenset[str | None]
    """Predicted actions under the change; None for an unusable answer."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """A change of the stream, made in every case."""

    name: str
    """Kind of change: "steering", "patching", "ablation" ..."""
    layer: int
    dose: float = 1.0
    control: str = ""
    """Kind of control, e.g. "random direction"; empty for the tested change."""
    interventions: tuple[tuple[Intervention, ...], ...] = ()
    """Interventions of each case."""
    instead: tuple[ChatRequest, ...] = ()
    """Requests that replace those of the cases, without interventions: the upper bound
    of a change of the stream.
    """

    @property
    def where(self) -> Labels:
        """Return the labels of the change's measurements."""
        return {
            "change": self.name,
            "layer": self.layer,
            "dose": self.dose,
            "control": self.control or "none",
        }


@dataclass(frozen=True, kw_only=True)
class _Outcome:
    """The effect of one change."""

    change: Change
    difference: Difference
    effects: Doubles
    """(cases,) increase in the share of predicted actions."""
    actions: list[list[str | None]]
    """(cases, samples)."""
    moved: float
    """Share of answers whose action differs from that without the change."""
    reason: str = ""
    """Reason why the numbers mean nothing; empty if they are valid."""


Read = Callable[[Case, Completion], Awaitable[str | None]]
"""Returns the action of an answer to a case; None for an unusable one."""


async def causal_effects(
    model: WhiteBox,
    cases: Sequence[Case],
    changes: Sequence[Change],
    read: Read,
    rng: np.random.Generator,
    samples: int = 1,
    counterfactuals: Sequence[ChatRequest] = (),
) -> list[Measurement]:
    """Measure the average causal effects of changes on the predicted actions.

    - "effect": increase of the share of predicted actions, paired by case, with its
      interval over worlds.
    - "moved": share of answers whose action is another.
    - "p": two-sided permutation test of the effect, corrected after Holm over all
      changes that are no controls.
    - "excess": effect beyond the strongest control of the same name and layer (and
      dose, where one has it).
    - "normalised_shift": see the function of that name; only with `counterfactuals`,
      and only for changes of the stream.

    Controls have no "p" and "excess". A change that leaves the forward pass of any case
    as it is has a reason instead of numbers. `is_cause` gives the verdict.

    Args:
        model: gives activations and takes interventions. cases: at least one. changes:
        each with its interventions for every case. read: gives the action of an answer.
        rng: for resampling. samples: answers to each case and change; their random
        numbers are the same for every change. counterfactuals: the counterfactual
        prompt of each case; empty where there is none.

    Raises:
        GdeError: the model refuses a change.
    """
    nothing = Change(name="", layer=0)
    plain = await _answers(model, cases, nothing, samples)
    actions_before = await _actions(plain, cases, read)
    before = _predicted_shares(actions_before, cases)
    worlds = [case.world for case in cases]
    forward_passes = _ForwardPasses(model, plain, changes)

    outcomes = []
    for change in changes:
        # A change that does nothing is not asked of the model: its answers are known.
        actions = actions_before
        reason = forward_passes.reason_against(change)
        if not reason:
            answers = await _answers(model, cases, change, samples)
            actions = await _actions(answers, cases, read)

        effects = _predicted_shares(actions, cases) - before
        outcome = _Outcome(
            change=change,
            difference=paired_difference(before + effects, before, worlds, rng),
            effects=effects,
            actions=actions,
            moved=_share_moved(actions_before, actions),
            reason=reason,
        )
        outcomes.append(outcome)

    measurements = [*_measured(outcomes, worlds, rng)]
    if not counterfactuals:
        return measurements

    prompts = Change(name="", layer=0, instead=tuple(counterfactuals))
    answers = await _answers(model, cases, prompts, samples)
    counterfactual = await _actions(answers, cases, read)
    for outcome in outcomes:
        # Asking the counterfactual prompt itself is no change of the stream.
        if not outcome.change.instead:
            measurements.append(
                _shift(outcome, actions_before, counterfactual, worlds, rng)
            )
    return measurements


def is_cause(measurements: Sequence[Measurement], change: Change) -> bool:
    """Return whether a change has a significant effect beyond its controls."""
    # The labels tell one change from all others.
    numbers = {one.name: one for one in measurements if one.where == change.where}
    p = numbers["p"]
    effect = numbers["effect"]
    excess = numbers["excess"]
    if p.value is None or p.value >= ALPHA:
        return False
    if (effect.value or 0) <= 0:
        return False

    # Without an interval, as with a single world, the mean has to do.
    if excess.interval is not None and excess.interval[0] <= 0:
        return False
    return (excess.value or 0) > 0


async def _answers(
    model: WhiteBox,
    cases: Sequence[Case],
    change: Change,
    samples: int,
) -> list[list[Completion]]:
    """(cases, samples) answers with a change."""
    requests = change.instead or [case.request for case in cases]
    interventions = change.interventions or [()] * len(cases)

    seeded = []
    for case, request, made in zip(cases, requests, interventions, strict=True):
        for sample in range(samples):
            # The seed is the case's own whatever the change, so that answers differ by
            # nothing but the change.
            seed = derive(case.request.seed, "cause", sample)
            seeded.append(replace(request, seed=seed, interventions=made))

    answers = await asyncio.gather(*map(model.complete, seeded))
    by_case = []
    for first in range(0, len(answers), samples):
        by_case.append(answers[first : first + samples])
    return by_case


async def _actions(
    answers: Sequence[Sequence[Completion]],
    cases: Sequence[Case],
    read: Read,
) -> list[list[str | None]]:
    """(cases, samples) actions of the answers."""
    actions = []
    for case, of_case in zip(cases, answers, strict=True):
        taken = [await read(case, answer) for answer in of_case]
        actions.append(taken)
    return actions


def _predicted_shares(actions: Actions, cases: Sequence[Case]) -> Doubles:
    """(cases,) share of the samples with a predicted action."""
    shares = []
    for of_case, case in zip(actions, cases, strict=True):
        shares.append(np.mean([action in case.predicted for action in of_case]))
    return np.array(shares, dtype=np.float64)


def _share_moved(before: Actions, after: Actions) -> float:
    """Return the share of all samples whose action differs."""
    own = [action for of_case in before for action in of_case]
    others = [action for of_case in after for action in of_case]
    moved = [one != other for one, other in zip(own, others, strict=True)]
    return float(np.mean(moved))


class _ForwardPasses:
    """Compares forward passes with a change to those without."""

    def __init__(
        self,
        model: WhiteBox,
        plain: Sequence[Sequence[Completion]],
        changes: Sequence[Change],
    ) -> None:
        self._model = model
        # One sample each will do: all share the prompt.
        self._answers = [of_case[0] for of_case in plain]

        positions: set[str] = set()
        for change in changes:
            for of_case in change.interventions:
                positions.update(intervention.position for intervention in of_case)
        self._positions = tuple(positions)

        unchanged: list[tuple[Intervention, ...]] = [()] * len(self._answers)
        self._records = deepest_activations(
            model, self._answers, unchanged, self._positions
        )

    def reason_against(self, change: Change) -> str:
        """Return why a change has no effect on a forward pass; empty if it has one."""
        if change.instead:
            return ""

        changed = deepest_activations(
            self._model, self._answers, change.interventions, self._positions
        )
        n_same = list(map(differ, self._records, changed)).count(False)
        if not n_same:
            return ""
        return f"it changed nothing in the forward pass of {n_same} of {len(self._answers)} cases"


def _measured(
    outcomes: Sequence[_Outcome],
    worlds: Sequence[str],
    rng: np.random.Generator,
) -> Iterator[Measurement]:
    """Return all measurements but the normalised shift, in the order of the changes."""
    # Controls are no hypotheses, so they take no part in the correction.
    tested = [one for one in outcomes if not one.change.control and not one.reason]
    raw = [one.difference.permutation.p_value for one in tested]
    p_values = iter(adjusted(raw, holm))

    for one in outcomes:
        n = len(one.effects)
        numbers: list[Measurement] = []
        if one.reason:
            names = ["effect", "moved"]
            if not one.change.control:
                names += ["p", "excess"]
            numbers += [unmeasured(name, "share", one.reason) for name in names]
        else:
            effect = one.difference.estimate.measurement("effect", "share")
            moved = Measurement(name="moved", value=one.moved, unit="share", n=n)
            numbers += [effect, moved]
            if not one.change.control:
                permutation = replace(
                    one.difference.permutation, p_value=next(p_values)
                )
                numbers.append(permutation.significance("p", n))
                numbers.append(_excess(one, outcomes, worlds, rng))

        for number in numbers:
            yield replace(number, where=one.change.where)


def _excess(
    one: _Outcome,
    outcomes: Sequence[_Outcome],
    worlds: Sequence[str],
    rng: np.random.Generator,
) -> Measurement:
    """Return the effect beyond the strongest control of the same name and layer."""
    change = one.change
    controls = []
    for other in outcomes:
        same_name = other.change.name == change.name
        same_layer = other.change.layer == change.layer
        if same_name and same_layer and other.change.control and not other.reason:
            controls.append(other)
    if not controls:
        return unmeasured("excess", "share", f"{change.name} has no control")

    # Not every kind of control has doses.
    same_dose = [control for control in controls if control.change.dose == change.dose]
    strongest = max(
        same_dose or controls, key=lambda control: float(control.effects.mean())
    )
    difference = paired_difference(one.effects, strongest.effects, worlds, rng)
    return difference.estimate.measurement("excess", "share")


def _shift(
    one: _Outcome,
    before: Actions,
    counterfactuals: Actions,
    worlds: Sequence[str],
    rng: np.random.Generator,
) -> Measurement:
    """Return the normalised shift of a change, or the reason why it is missing."""
    if one.reason:
        shift = unmeasured(normalised_shift.NAME, "share", one.reason)
    else:
        shift = normalised_shift.normalised_shift(
            before, one.actions, counterfactuals, worlds, rng
        )
    return replace(shift, where=one.change.where)
