"""Parts without an offer: the caller's objects, and stand-ins for absent parts."""

import inspect
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from typing import Any

from gde.data.plan import OBJECT, Choice, Plan
from gde.errors import GdeError
from gde.offers import AnyOffer, Capability, NoConfig, Offer
from gde.parts.context import Context
from gde.request.catalogue import Entry
from gde.request.kinds import KINDS, SEVERAL, SINGLE

CAPABILITIES: dict[str, tuple[str, ...]] = {
    Capability.STATE: ("state",),
    Capability.OPTIMUM: ("optimum",),
    Capability.MDP: ("state", "mdp"),
    Capability.DEMONSTRATION: ("demonstration",),
    Capability.GOALS: ("goals", "set_goal"),
    Capability.SNAPSHOT: ("snapshot", "restore"),
    Capability.SIMULATOR: ("reseed",),
    Capability.WORLDS: ("worlds",),
}
"""The methods that show that an object gives a capability. MAP, which only the record
shows, follows from STATE.
"""
METHODS = {
    "environment": "step",
    "agent": "act",
    "probe": "fit",
    "reward_model": "rewards",
    "metric": "__call__",
    "executor": "map",
    "reporter": "render",
}
"""The method that tells a part of a kind from a function that makes one."""
COPIED = {"environment", "agent"}
"""Kinds whose objects are copied, since every episode has its own."""
MEASURING = {"probe", "metric"}
"""Kinds whose objects may say what their numbers mean, in an attribute `measures`."""
FUNCTION = "a function from observation to action goes into FunctionAgent(...)"


def object_entry(kind: str, choice: Choice) -> Entry:
    """Make the entry of the caller's offer, object, class or function.

    A class or function makes the part.

    An agent belongs to one episode and an environment to one at a time, so those that
    are given as objects are copied.

    Raises:
        GdeError: the part has settings, which an object cannot have; or it is neither a
        part nor makes one.
    """
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
    for kind in SINGLE:
        mine, own = getattr(recorded, kind.field), getattr(given, kind.field)
        fields[kind.field] = _with_parts((mine,), (own,))[0]
    for kind in SEVERAL:
        mine, own = getattr(recorded, kind.field), getattr(given, kind.field)
        fields[kind.field] = _with_parts(mine, own)
    return replace(recorded, **fields)


def _with_parts(
    recorded: tuple[Choice, ...], given: tuple[Choice, ...]
) -> tuple[Choice, ...]:
    parts = {(choice.name, choice.label): choice.part for choice in given}
    return tuple(
        replace(choice, part=parts.get((choice.name, choice.label)))
        for choice in recorded
    )


def _offered(kind: str, choice: Choice) -> AnyOffer:
    part = choice.part
    whose = f"{KINDS[kind].title} {choice.label!r}"
    if choice.config:
        field = next(iter(choice.config))
        raise GdeError(
            f"{choice.label}.{field}: an object is configured where it is made; leave the setting out"
        )
    made_by_calling = _is_maker(kind, part, whose)
    if not made_by_calling and kind in COPIED:
        _check_copies(part, whose)

    def make(_: NoConfig, __: Context) -> Any:
        if made_by_calling:
            return _made(kind, part, whose)
        if kind in COPIED:
            return deepcopy(part)
        return part

    # A function does not have the methods of what it makes, so an environment is made
    # as an example.
    example = part
    more: dict[str, Any] = {}
    if kind == "environment":
        if made_by_calling:
            example = _example(part, whose)
        more["blocking"] = bool(getattr(example, "blocking", False))
    if kind in MEASURING:
        more["measures"] = tuple(getattr(part, "measures", ()))
    return KINDS[kind].offer(
        name=choice.label,
        summary=choice.name,
        config=NoConfig,
        make=make,
        gives=_gives(example),
        **more,
    )


def _is_maker(kind: str, part: Any, whose: str) -> bool:
    """Whether a part is made by calling this, else it is one."""
    method = METHODS[kind]
    is_class = isinstance(part, type)

    # A metric is called itself, so its method tells nothing.
    if not is_class and kind != "metric" and hasattr(part, method):
        return False
    if not callable(part):
        wanted = (
            f"with {method}(), or a class or function without arguments that makes one"
        )
        raise GdeError(f"{whose}: wanted an object {wanted}, got {part!r}")

    # A function of one argument, the evidence, is a metric; without arguments it makes
    # one.
    needed = _needed(part)
    if kind == "metric" and not is_class and len(needed) == 1:
        return False

    if needed:
        wanted = "give an object, or a function without arguments that makes one"
        if kind == "agent":
            wanted += f"; {FUNCTION}"
        raise GdeError(f"{whose} cannot be made without {', '.join(needed)}: {wanted}")
    return True


def _needed(maker: Any) -> list[str]:
    """The arguments that a call needs."""
    try:
        parameters = inspect.signature(maker).parameters.values()
    # Some built-in classes do not tell.
    except ValueError:
        return []

    optional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [
        each.name
        for each in parameters
        if each.default is each.empty and each.kind not in optional
    ]


def _made(kind: str, maker: Any, whose: str) -> Any:
    part = maker()
    if not hasattr(part, METHODS[kind]):
        raise GdeError(
            f"{whose}: wanted it to make an object with {METHODS[kind]}(), got {part!r}"
        )
    return part


def _example(maker: Any, whose: str) -> Any:
    """An object with the environments' methods: a class itself, or a made one.

    A function is called to make one.
    """
    if isinstance(maker, type):
        return maker
    try:
        environment = _made("environment", maker, whose)
    except GdeError:
        raise
    except Exception as error:
        raise GdeError(
            f"{whose} cannot be made: {type(error).__name__}: {error}"
        ) from error

    # A failure to close is no reason to refuse it, as everywhere.
    with suppress(Exception):
        environment.close()
    return environment


def _check_copies(part: Any, whose: str) -> None:
    try:
        deepcopy(part)
    except Exception as error:
        advice = "give its class, or a function that makes one"
        raise GdeError(
            f"{whose} cannot be copied for every episode ({error}): {advice}"
        ) from error


def _gives(part: Any) -> frozenset[str]:
    given = {
        capability
        for capability, methods in CAPABILITIES.items()
        if all(hasattr(part, method) for method in methods)
    }
    if Capability.STATE in given:
        given.add(Capability.MAP)
    return frozenset(given)
