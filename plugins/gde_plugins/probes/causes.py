"""Does what a probe finds cause what the agent does? Turns asked again with the residual stream changed.

A direction that a probe decodes may be one that the model never uses. So the same requests are answered with and
without a change, with the same random numbers, and the change counts as a cause where it moves the answers as
predicted, and further than changes of the same size that should not.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gde.data.activations import Intervention
from gde.data.completion import ChatRequest, Completion
from gde.data.json import Labels
from gde.data.result import Measurement
from gde.numerics.stats import Difference, adjusted, holm, paired_difference
from gde.parts.language_model import WhiteBox
from gde.seeding import derive
from gde_plugins.probes.interventions import check_changed

ALPHA = 0.05


@dataclass(frozen=True, kw_only=True)
class Case:
    """One turn that is asked again."""

    request: ChatRequest
    world: str
    """Cases of one world are no independent observations."""
    predicted: frozenset[str]
    """Actions that a change is predicted to bring about."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """One way of changing the stream in every case."""

    name: str
    """"steering", "patching", "ablation" ..."""
    layer: int
    dose: float = 1.0
    control: str = ""
    """What it is a control by, e.g. "random direction"; empty for the change that is tested."""
    interventions: tuple[tuple[Intervention, ...], ...]
    """Of each case."""

    @property
    def where(self) -> Labels:
        """Which change a number is of."""
        return {"change": self.name, "layer": self.layer, "dose": self.dose, "control": self.control or "none"}


async def causal_effects(
    model: WhiteBox,
    cases: Sequence[Case],
    changes: Sequence[Change],
    action: Callable[[Completion], str | None],
    rng: np.random.Generator,
    samples: int = 1,
) -> list[Measurement]:
    """The average causal effects of changes on the predicted actions.

    "effect": by how much more often, in shares, a predicted action is taken with the change than without, paired by
    case, with its interval over worlds; "moved": how often the action is another; "p", the two-sided permutation test
    of the effect corrected after Holm over all changes that are no controls; and "excess", of those changes, the
    effect beyond the control of the same name and dose, or of the same name, that comes nearest, with its interval.
    `is_cause` reads them.

    Args:
        model: gives activations and takes interventions.
        cases: at least one.
        changes: each with its interventions for every case.
        action: what an answer comes to; None for one that cannot be used.
        rng: for resampling.
        samples: answers to each case and change, their random numbers the same in every change.

    Raises:
        GdeError: a change that leaves the forward pass as it is, or that the model refuses.
    """
    plain = await _answers(model, cases, [()] * len(cases), samples)
    unchanged = _actions(plain, action)
    found: list[tuple[Change, Difference, NDArray[np.float64], float]] = []
    worlds = [case.world for case in cases]
    before = _hits(unchanged, cases)
    for change in changes:
        check_changed(model, plain[0][0], change.interventions[0])
        answered = _actions(await _answers(model, cases, change.interventions, samples), action)
        after = _hits(answered, cases)
        moved = float(
            np.mean(
                [
                    one != other
                    for pair in zip(answered, unchanged, strict=True)
                    for one, other in zip(*pair, strict=True)
                ]
            )
        )
        found.append((change, paired_difference(after, before, worlds, rng), after - before, moved))
    return [*_reported(found, worlds, rng)]


def is_cause(measurements: Sequence[Measurement], change: Change) -> bool:
    """Whether a change moves the answers as predicted, and beyond its controls: its corrected p value is below 5 %, its
    effect positive, and the interval of its excess above zero."""
    numbers = {one.name: one for one in measurements if one.where == change.where}
    p, effect, excess = (numbers[name] for name in ("p", "effect", "excess"))
    significant = p.value is not None and p.value < ALPHA and (effect.value or 0) > 0
    return significant and (excess.interval is None or excess.interval[0] > 0) and (excess.value or 0) > 0


async def _answers(
    model: WhiteBox, cases: Sequence[Case], interventions: Sequence[tuple[Intervention, ...]], samples: int
) -> list[list[Completion]]:
    """For each case its answers, one a sample."""
    asked = [
        replace(case.request, seed=derive(case.request.seed, "cause", sample), interventions=changes)
        for case, changes in zip(cases, interventions, strict=True)
        for sample in range(samples)
    ]
    answers = await asyncio.gather(*map(model.complete, asked))
    return [list(answers[first : first + samples]) for first in range(0, len(asked), samples)]


def _actions(
    answers: Sequence[Sequence[Completion]], action: Callable[[Completion], str | None]
) -> list[list[str | None]]:
    return [[action(one) for one in of_case] for of_case in answers]


def _hits(actions: Sequence[Sequence[str | None]], cases: Sequence[Case]) -> NDArray[np.float64]:
    """(cases,) share of the answers that are as predicted."""
    shares = [np.mean([one in case.predicted for one in taken]) for taken, case in zip(actions, cases, strict=True)]
    return np.array(shares, dtype=np.float64)


def _reported(
    found: Sequence[tuple[Change, Difference, NDArray[np.float64], float]],
    worlds: Sequence[str],
    rng: np.random.Generator,
) -> list[Measurement]:
    tested = [difference for change, difference, _, _ in found if not change.control]
    corrected = iter(adjusted([difference.permutation.p_value for difference in tested], holm))
    reported = []
    for change, difference, effects, moved in found:
        n = len(effects)
        numbers = [
            difference.estimate.measurement("effect", "share"),
            Measurement(name="moved", value=moved, unit="share", n=n),
        ]
        if not change.control:
            significance = replace(difference.permutation, p_value=next(corrected)).significance("p", n)
            numbers += [significance, _excess(change, effects, found, worlds, rng)]
        reported += [replace(one, where=change.where) for one in numbers]
    return reported


def _excess(
    change: Change,
    effects: NDArray[np.float64],
    found: Sequence[tuple[Change, Difference, NDArray[np.float64], float]],
    worlds: Sequence[str],
    rng: np.random.Generator,
) -> Measurement:
    controls = [(other, each) for other, _, each, _ in found if other.control and other.name == change.name]
    same = [each for other, each in controls if other.dose == change.dose] or [each for _, each in controls]
    if not same:
        return Measurement(name="excess", value=None, unit="share", n=0, reason=f"{change.name} has no control")
    nearest = max(same, key=lambda each: float(each.mean()))
    return paired_difference(effects, nearest, worlds, rng).estimate.measurement("excess", "share")
