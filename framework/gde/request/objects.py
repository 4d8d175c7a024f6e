"""Parts that no plugin offers: objects of the caller's, and stand-ins for parts that are not installed here."""

from copy import deepcopy
from typing import Any, NoReturn

from gde.data.plan import Choice
from gde.errors import GdeError
from gde.offers import Facet, NoConfig, Offer
from gde.parts.context import Context
from gde.request.catalogue import Entry

FACETS: dict[str, tuple[str, ...]] = {
    Facet.STATE: ("state",),
    Facet.OPTIMUM: ("optimum",),
    Facet.MDP: ("state", "mdp"),
    Facet.SNAPSHOT: ("snapshot", "restore"),
    Facet.WORLDS: ("worlds",),
}
"""Told by what an object can do; MAP, which is in the record alone, by its having a state."""


def object_entry(kind: str, choice: Choice) -> Entry:
    """The offer of a part that the caller made, or of what makes it.

    An agent belongs to one episode, so an agent that is given as an object is copied for each.

    Raises:
        GdeError: it has arguments to configure, which an object has not.
    """
    if choice.config:
        field = next(iter(choice.config))
        raise GdeError(f"{choice.label}.{field}: an object is configured where it is made; leave the setting out")

    def make(_: NoConfig, __: Context) -> Any:
        if isinstance(choice.part, type) or not _is_part(kind, choice.part):
            return choice.part()
        return deepcopy(choice.part) if kind in {"agent", "environment"} else choice.part

    offer = Offer(name=choice.label, summary=choice.name, config=NoConfig, make=make, gives=_gives(choice.part))
    return Entry(plugin="python", module=type(choice.part).__module__, offer=offer)


def absent_entry(name: str, reason: str) -> Entry:
    """A stand-in for a part that a recorded plan names and that is not installed here."""

    def make(_: NoConfig, __: Context) -> NoReturn:
        raise GdeError(reason)

    return Entry(plugin="", module="", offer=Offer(name=name, summary=reason, config=NoConfig, make=make))


METHODS = {
    "environment": "step",
    "agent": "act",
    "probe": "fit",
    "reward_model": "rewards",
    "executor": "map",
    "reporter": "render",
}
"""What tells a part of a kind from a function that makes one. A metric is a function itself."""


def _is_part(kind: str, part: Any) -> bool:
    return kind == "metric" or hasattr(part, METHODS[kind])


def _gives(part: Any) -> frozenset[str]:
    given = {facet for facet, methods in FACETS.items() if all(hasattr(part, method) for method in methods)}
    return frozenset(given | ({Facet.MAP} if Facet.STATE in given else set()))
