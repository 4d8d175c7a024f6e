"""Parts without an offer: the caller's objects, and stand-ins for absent parts."""

import inspect
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from textwrap import shorten
from typing import Any

from gde.data.measure import Measure
from gde.data.plan import OBJECT, Choice, Plan
from gde.errors import GdeError
from gde.offers import AnyOffer, Capability, NoConfig, Offer, WeightsName
from gde.parts.context import Context
from gde.request.catalogue import Entry
from gde.request.forms import (
    COMPLETE,
    METHODS,
    WANTED,
    as_part,
    is_part,
    is_policy,
    needed,
)
from gde.request.kinds import KINDS, MODEL, SEVERAL, SINGLE
from gde.request.settings import field_names

CAPABILITIES: dict[str, tuple[str, ...]] = {
    Capability.STATE: ("state",),
    Capability.OPTIMUM: ("optimum",),
    Capability.MDP: ("state", "mdp"),
    Capability.DEMONSTRATION: ("demonstration",),
    Capability.GOALS: ("goals", "set_goal"),
    Capability.SNAPSHOT: ("snapshot", "restore"),
    Capability.SIMULATOR: ("reseed",),
    Capability.WORLDS: ("worlds",),
    Capability.REMARKS: ("remarks",),
    Capability.ACTIVATIONS: ("capture", "tokenize", "untrained"),
    Capability.INTERVENTIONS: ("capture", "tokenize", "untrained"),
    Capability.ACTION_PROBS: ("completions",),
}
"""The methods that show that an object gives a capability. MAP, which only the record
shows, follows from STATE.
"""
SHOWN = 200
"""Characters of an object in a message: a network shows itself in pages."""
COPIED = {"environment", "agent"}
"""Kinds whose objects are copied, since every episode has its own."""
MADE_ANYWAY = {"probe", "reward_model", "executor"}
"""Kinds whose parts are made before a run begins, so that no example is needed."""
MEASURING = {"probe", "metric"}
"""Kinds whose objects may say what their numbers mean, in an attribute `measures`."""


@dataclass(frozen=True, kw_only=True)
class ObjectProbeConfig:
    """Of the caller's own probe, which configures the rest itself."""

    weights: WeightsName = ""
    """As of every probe: the model that is read, if it is not the agent's."""


def object_entry(kind: str, choice: Choice) -> Entry:
    """Make the entry of the caller's offer, object, class or function.

    A class, or a function without arguments, makes the part. Another function is one.

    An agent belongs to one episode and an environment to one at a time, so those that
    are given as objects are copied.

    Raises:
        GdeError: the part is not here, or has settings, which an object cannot have; or
            it is neither a part nor makes one.
    """
    if choice.part is None:
        what = "is not an offer but an object of the program that made the run"
        advice = "resume in Python with it: gde.resume(RUN, plan=..., how=...)"
        raise GdeError(f"{KINDS[kind].title} {choice.name!r} {what}: {advice}")
    module, _, _ = choice.name.removeprefix(OBJECT).rpartition(".")
    if isinstance(choice.part, Offer):
        offer = choice.part
        wanted = KINDS[kind].offer
        if not isinstance(offer, wanted):
            whose = f"{KINDS[kind].title} {choice.label!r}"
            raise GdeError(
                f"{whose}: wanted {wanted.__name__}(...), got {type(offer).__name__}(...)"
            )
    else:
        offer = _offered(kind, choice)
    return Entry(plugin="python", module=module, offer=offer)


def with_objects(recorded: Plan, given: Plan) -> Plan:
    """A recorded plan with the same-named objects of a plan in Python."""
    fields: dict[str, Any] = {}
    for kind in (*SINGLE, *SEVERAL):
        parts = {(own.name, own.label): own.part for own in kind.choices(given)}
        found = [
            replace(choice, part=parts.get((choice.name, choice.label)))
            for choice in kind.choices(recorded)
        ]
        fields[kind.field] = tuple(found) if kind.several else found[0]
    return replace(recorded, **fields)


def _offered(kind: str, choice: Choice) -> AnyOffer:
    part = choice.part
    whose = f"{KINDS[kind].title} {choice.label!r}"
    config = ObjectProbeConfig if kind == "probe" else NoConfig
    for field in choice.config.keys() - field_names(config):
        raise GdeError(
            f"{choice.label}.{field}: an object is configured where it is made; leave the setting out"
        )
    if kind == "metric" and inspect.iscoroutinefunction(part):
        raise GdeError(f"{whose}: wanted a plain function, got an async one")
    made_by_calling = _is_maker(kind, part, whose)
    is_copied = kind in COPIED and not made_by_calling and not is_policy(part)
    if is_copied:
        _check_copies(part, whose)

    def make(_: object, __: Context) -> Any:
        given = _made(kind, part, whose) if made_by_calling else part
        return as_part(kind, deepcopy(given) if is_copied else given, choice.label)

    # A class or function does not tell whether it makes a part, so one is made as an
    # example.
    example = part
    if made_by_calling and kind not in MADE_ANYWAY:
        example = _example(kind, part, whose)
    more: dict[str, Any] = {}
    if kind == "environment":
        more["blocking"] = bool(getattr(example, "blocking", False))
    if kind in MEASURING:
        own = Measure(choice.label, choice.label, headline=True)
        untold = [own] if kind == "metric" else []
        more["measures"] = tuple(getattr(part, "measures", untold))
    return KINDS[kind].offer(
        name=choice.label,
        summary=choice.name,
        config=config,
        make=make,
        gives=_gives(example),
        **more,
    )


def _is_maker(kind: str, part: Any, whose: str) -> bool:
    """Whether a part is made by calling this, else it is one."""
    if is_part(kind, part):
        _check_complete(kind, part, whose)
        return False
    wanted = f"wanted {WANTED[kind]}, or a class or function without arguments that makes one"
    # A model of another library is called with tokens, and makes none.
    is_foreign = kind == MODEL.name and not hasattr(part, "__qualname__")
    if is_foreign or not callable(part):
        raise GdeError(f"{whose}: {wanted}, got {shorten(repr(part), SHOWN)}")
    if arguments := ", ".join(each.name for each in needed(part)):
        raise GdeError(f"{whose} cannot be made without {arguments}: {wanted}")
    return True


def _made(kind: str, maker: Any, whose: str) -> Any:
    part = maker()
    if not is_part(kind, part):
        raise GdeError(f"{whose}: wanted it to make {WANTED[kind]}, got {part!r}")
    _check_complete(kind, part, whose)
    return part


def _check_complete(kind: str, part: Any, whose: str) -> None:
    for method in METHODS[kind] if kind in COMPLETE else ():
        if not hasattr(part, method):
            raise GdeError(f"{whose}: wanted {WANTED[kind]}, got one without {method}")


def _example(kind: str, maker: Any, whose: str) -> Any:
    """A part that is made for its methods alone."""
    try:
        part = _made(kind, maker, whose)
    except GdeError:
        raise
    except Exception as error:
        raise GdeError(
            f"{whose} cannot be made: {type(error).__name__}: {error}"
        ) from error

    # A failure to close is no reason to refuse it, as everywhere.
    with suppress(Exception):
        if kind == "environment":
            part.close()
    return part


def _check_copies(part: Any, whose: str) -> None:
    try:
        deepcopy(part)
    except Exception as error:
        advice = "give its class, or a function that makes one"
        raise GdeError(
            f"{whose} cannot be copied for every episode ({error}): {advice}"
        ) from error


def _gives(part: Any) -> set[str]:
    given = {
        capability
        for capability, methods in CAPABILITIES.items()
        if all(hasattr(part, method) for method in methods)
    }
    if Capability.STATE in given:
        given.add(Capability.MAP)
    return given
