"""Replayed turns, changes of their answers, and the actions that follow."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from gde.data.activations import Intervention
from gde.data.cell_map import Position
from gde.data.completion import ChatRequest, Completion
from gde.data.json import Labels
from gde.data.place import RESIDUAL
from gde.seeding import derive
from gde_plugins.probes.arrays import Doubles


@dataclass(frozen=True, kw_only=True)
class Case:
    """A replayed turn."""

    request: ChatRequest
    world: str
    """The cluster: cases of one world are no independent observations."""
    predicted: frozenset[str | None]
    """Predicted actions under the change; None for an unusable answer."""
    statements: Mapping[str, tuple[str, Position]] = field(default_factory=dict)
    """Statements that the reasoning may make: name to a thing and its place."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """A change of activations, made in every case."""

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


def at_place(name: str, place: str) -> str:
    """Name a change with the place of the layer at which it is made, unless that is the
    stream itself.
    """
    return name if place == RESIDUAL else f"{name} at {place}"


T = TypeVar("T")
UNCHANGED = Change(name="", layer=0)
Answers = Sequence[Sequence[Completion]]
"""(cases, samples) answers."""
Actions = Sequence[Sequence[str | None]]
"""(cases, samples) actions; None, for unusable answers, is an outcome like the others.
"""
Read = Callable[[Case, Completion], Awaitable[str | None]]
"""Returns the action of an answer to a case; None for an unusable one."""


def changed_requests(
    cases: Sequence[Case], change: Change, samples: int
) -> list[list[ChatRequest]]:
    """(cases, samples) requests of the cases with a change."""
    requests = change.instead or [case.request for case in cases]
    interventions = change.interventions or [()] * len(cases)

    changed = []
    for case, request, made in zip(cases, requests, interventions, strict=True):
        of_case = []
        for sample in range(samples):
            # The seed is the case's own whatever the change, so that answers differ by
            # nothing but the change.
            seed = derive(case.request.seed, "cause", sample)
            of_case.append(replace(request, seed=seed, interventions=made))
        changed.append(of_case)
    return changed


async def gathered(tasks: Sequence[Sequence[Awaitable[T]]]) -> list[list[T]]:
    """(cases, samples) results of tasks that run at once."""
    flat = [task for of_case in tasks for task in of_case]
    results = iter(await asyncio.gather(*flat))
    return [[next(results) for _ in of_case] for of_case in tasks]


async def actions_in(
    answers: Answers, cases: Sequence[Case], read: Read
) -> list[list[str | None]]:
    """(cases, samples) actions of the answers."""
    actions = []
    for case, of_case in zip(cases, answers, strict=True):
        taken = [await read(case, answer) for answer in of_case]
        actions.append(taken)
    return actions


def predicted_shares(actions: Actions, cases: Sequence[Case]) -> Doubles:
    """(cases,) share of the samples with a predicted action."""
    shares = []
    for of_case, case in zip(actions, cases, strict=True):
        shares.append(np.mean([action in case.predicted for action in of_case]))
    return np.array(shares, dtype=np.float64)


def any_usable(actions: Actions) -> bool:
    """Return whether any answer led to an action."""
    return any(action is not None for of_case in actions for action in of_case)
