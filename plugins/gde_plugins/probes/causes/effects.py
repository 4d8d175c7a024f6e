"""Causal effects: does a change of the residual stream change the agent's actions?

A direction that a probe decodes may be one that the model never uses. The same requests
are therefore answered with and without a change, with the same random numbers. The
change is a cause if it moves the answers as predicted, and further than control changes
of the same size.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gde.data.activations import Intervention
from gde.data.json import Labels
from gde.data.result import Measurement
from gde.data.verdict import ALPHA
from gde.numerics.episodes import unmeasured
from gde.numerics.stats import Difference, adjusted, holm, paired_difference
from gde.parts.language_model import WhiteBox
from gde_plugins.probes.arrays import Doubles
from gde_plugins.probes.causes.cases import (
    UNCHANGED,
    Actions,
    Answers,
    Case,
    Change,
    Read,
    actions_in,
    any_usable,
    changed_requests,
    gathered,
    predicted_shares,
)
from gde_plugins.probes.causes.interventions import deepest_activations, differ
from gde_plugins.probes.causes.mediation import NAMES as MEDIATED
from gde_plugins.probes.causes.mediation import Mediated, Mediation, mediated_effects
from gde_plugins.probes.causes.reasoning import written_shares

NO_ACTION = "no answer {} was usable"
"""Reason instead of an effect of 0: without an action there is none to be moved."""
OUT_OF_REACH = (
    "at the last layer, a change of the prompt reaches the first written token alone,"
    " which is the same in all answers"
)
"""Reason instead of an effect of 0: no later token attends to this layer."""


@dataclass(frozen=True, kw_only=True)
class _Outcome:
    """The effect of one change."""

    change: Change
    difference: Difference
    effects: Doubles
    """(cases,) increase in the share of predicted actions."""
    moved: float
    """Share of answers whose action differs from that without the change."""
    further: Sequence[Measurement]
    """Direct and indirect effect, and statements of the reasoning."""
    reason: str = ""
    """Reason why the numbers mean nothing; empty if they are valid."""


@dataclass(frozen=True, kw_only=True)
class Replays:
    """The cases, and how their answers are read."""

    model: WhiteBox
    """Gives activations and takes interventions."""
    cases: Sequence[Case]
    """At least one."""
    read: Read
    samples: int = 1
    """Answers to each case and change. Their random numbers are the same for every
    change.
    """
    pattern: str = ""
    """Regular expression of places in the reasoning, see `reasoning`."""

    @property
    def worlds(self) -> list[str]:
        """(cases,) clusters."""
        return [case.world for case in self.cases]

    async def answers(self, change: Change) -> Answers:
        """(cases, samples) answers with a change."""
        requests = changed_requests(self.cases, change, self.samples)
        asked = [[*map(self.model.complete, of_case)] for of_case in requests]
        return await gathered(asked)

    async def actions(self, answers: Answers) -> Actions:
        """(cases, samples) actions of answers."""
        return await actions_in(answers, self.cases, self.read)


async def causal_effects(
    replays: Replays, changes: Sequence[Change], rng: np.random.Generator
) -> list[Measurement]:
    """Measure the average causal effects of changes on the predicted actions.

    - "effect": increase of the share of predicted actions, paired by case, with its
      interval over worlds.
    - "direct" and "indirect": the effect beside the reasoning and through it, see
      `mediation`.
    - "written.*": share of the reasonings that make a statement, see `reasoning`.
    - "moved": share of answers whose action is another.
    - "p": two-sided permutation test of the effect, corrected after Holm over all
      changes that are no controls.
    - "excess": effect beyond the strongest control of the same name and layer (and
      dose, where one has it).

    Controls have no "p" and "excess". A change has a reason instead of numbers if it
    leaves the forward pass of any case as it is or no answer usable, or if it reaches
    nothing but a first token that all answers share. `is_cause` gives the verdict.

    Args:
        replays: the cases.
        changes: each with its interventions for every case.
        rng: for resampling.

    Raises:
        GdeError: the model refuses a change.
    """
    plain = await replays.answers(UNCHANGED)
    before = await replays.actions(plain)
    tests = _Effects(
        replays=replays,
        plain=plain,
        before=before,
        forward_passes=_ForwardPasses(replays.model, plain, changes),
        mediation=await Mediation.of(
            replays.model, replays.cases, plain, before, replays.read
        ),
    )
    # All changes are asked at once, so that a model's batches and workers are full.
    asked = await asyncio.gather(*map(tests.ask, changes))
    outcomes = [tests.outcome(each, rng) for each in asked]
    return [*_measured(outcomes, replays.worlds, rng)]


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """The answers with one change, and what follows them."""

    change: Change
    actions: Actions
    reason: str = ""
    """As of the outcome."""
    answers: Answers = ()
    mediated: Sequence[Mediated] = ()


@dataclass(frozen=True, kw_only=True)
class _Effects:
    """Compares the answers with a change to those without."""

    replays: Replays
    plain: Answers
    before: Actions
    forward_passes: "_ForwardPasses"
    mediation: Mediation

    async def ask(self, change: Change) -> _Asked:
        """Ask the model with a change."""
        # A change that does nothing is not asked of the model: its answers are known.
        reason = self._reason_against(change)
        if reason:
            return _Asked(change=change, actions=self.before, reason=reason)

        answers = await self.replays.answers(change)
        actions = await self.replays.actions(answers)
        if not any_usable(actions):
            reason = NO_ACTION.format("with the change")
        elif self._is_out_of_reach(change, answers):
            reason = OUT_OF_REACH
        if reason:
            return _Asked(change=change, actions=actions, reason=reason)
        mediated = await self.mediation.ask(change, answers)
        return _Asked(
            change=change, actions=actions, answers=answers, mediated=mediated
        )

    def outcome(self, asked: _Asked, rng: np.random.Generator) -> _Outcome:
        """Measure the effect of a change."""
        replays = self.replays
        further: list[Measurement] = []
        if not asked.reason:
            further += mediated_effects(asked.mediated, rng)
            further += written_shares(
                replays.pattern, asked.answers, replays.cases, rng
            )

        shares_before = predicted_shares(self.before, replays.cases)
        shares = predicted_shares(asked.actions, replays.cases)
        return _Outcome(
            change=asked.change,
            difference=paired_difference(shares, shares_before, replays.worlds, rng),
            effects=shares - shares_before,
            moved=_share_moved(self.before, asked.actions),
            further=further,
            reason=asked.reason,
        )

    def _reason_against(self, change: Change) -> str:
        """Return why a change cannot have an effect; empty if it can."""
        if not any_usable(self.before):
            return NO_ACTION.format("without a change")
        return self.forward_passes.reason_against(change)

    def _is_out_of_reach(self, change: Change, answers: Answers) -> bool:
        """Return whether a change of the last layer met tokens that tell no case from
        another.
        """
        last = self.replays.model.info.n_layers - 1
        layers = {made.layer for of_case in change.interventions for made in of_case}
        first = {tokens[:1] for tokens in _tokens(answers)}
        is_same = _tokens(answers) == _tokens(self.plain)
        return layers == {last} and len(first) == 1 and is_same


def _tokens(answers: Answers) -> list[tuple[int, ...]]:
    """Return the tokens of all samples."""
    return [answer.tokens for of_case in answers for answer in of_case]


def verdict(measurements: Sequence[Measurement], change: Change, n: int) -> Measurement:
    """Return 1 if a change is a cause and 0 if not, or why its effect is missing."""
    (effect,) = [
        one
        for one in measurements
        if one.name == "effect" and one.where == change.where
    ]
    if effect.value is None:
        return unmeasured("called", effect.reason, change.where)
    value = float(is_cause(measurements, change.where))
    return Measurement(name="called", value=value, n=n, where=change.where)


def is_cause(
    measurements: Sequence[Measurement], where: Labels, alpha: float = ALPHA
) -> bool:
    """Return whether the change of these labels, which tell it from all others, has a
    significant effect beyond its controls.
    """
    numbers = {one.name: one for one in measurements if one.where == where}
    p = numbers["p"]
    effect = numbers["effect"]
    excess = numbers["excess"]
    if p.value is None or p.value >= alpha:
        return False
    if (effect.value or 0) <= 0:
        return False

    # Without an interval, as with a single world, the mean has to do.
    if excess.interval is not None and excess.interval[0] <= 0:
        return False
    return (excess.value or 0) > 0


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
        plain: Answers,
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
    """Return all measurements, in the order of the changes."""
    # Controls are no hypotheses, so they take no part in the correction.
    tested = [one for one in outcomes if not one.change.control and not one.reason]
    raw = [one.difference.permutation.p_value for one in tested]
    p_values = iter(adjusted(raw, holm))

    for one in outcomes:
        n = len(one.effects)
        numbers: list[Measurement] = []
        if one.reason:
            names = ["effect", *MEDIATED, "moved"]
            if not one.change.control:
                names += ["p", "excess"]
            numbers += [unmeasured(name, one.reason) for name in names]
        else:
            effect = one.difference.estimate.measurement("effect")
            moved = Measurement(name="moved", value=one.moved, n=n)
            numbers += [effect, *one.further, moved]
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
        return unmeasured("excess", f"{change.name} has no control")

    # Not every kind of control has doses.
    same_dose = [control for control in controls if control.change.dose == change.dose]
    strongest = max(
        same_dose or controls, key=lambda control: float(control.effects.mean())
    )
    difference = paired_difference(one.effects, strongest.effects, worlds, rng)
    return difference.estimate.measurement("excess")
