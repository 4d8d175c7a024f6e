"""The household of AlfWorld: where things were last seen, what was done to them, and
which things a goal means.
"""

import re
from dataclasses import dataclass

from gde.data.transcript import Transcript
from gde_plugins.statefactory.rules.worlds import Given, Rules, Things, listed, seen
from gde_plugins.statefactory.state import Item, Items

THING = r"([a-z]+ \d+)"
CONTENTS = re.compile(
    rf"(?:On the {THING}|The {THING} is open\. In it), you see ([^.]*)\."
)
ONE = re.compile(rf"\ban? {THING}")
TAKEN = re.compile(rf"You pick up the {THING}")
PUT = re.compile(rf"You (?:move|put) the {THING} (?:to|in/on|in|on) the {THING}")
CHANGED = re.compile(rf"You (heat|cool|clean|slice) the {THING}")
SWITCHED = re.compile(rf"You turn (on|off) the {THING}")
CONDITIONS = {"heat": "hot", "cool": "cool", "clean": "clean", "slice": "sliced"}

TWO = re.compile(
    r"(?:find|put) two (?P<kind>\w+)(?: and put them)? (?:in/on|in|on) (?:the )?(?P<place>\w+)"
)
CHANGE = re.compile(
    r"(?P<verb>clean|heat|cool) some (?P<kind>\w+) and put it (?:in/on|in|on) (?:the )?(?P<place>\w+)"
)
PLACE = re.compile(
    r"put (?:some|an?|the) (?:(?P<condition>clean|hot|cool) )?(?P<kind>\w+) (?:in/on|in|on) (?:the )?(?P<place>\w+)"
)
LIGHT = re.compile(
    r"(?:look at|examine) (?:the |an? )?(?P<kind>\w+) (?:under|with) the (?P<lamp>\w*lamp)"
)

HAND = "in the hand"
PICKED = "picked up"


@dataclass(frozen=True)
class Wish:
    """The content of an objective."""

    kind: str
    n: int = 1
    place: str = HAND
    condition: str = ""
    lamp: str = ""

    def goal(self, things: Things) -> Items:
        """The wanted objects, under the names of those of their kind that were picked
        up first.
        """
        handled = _those(things, self.kind, "handled")
        chosen = [*handled[: self.n], *[self.kind] * (self.n - len(handled))]
        items = [self._wanted(name, things) for name in chosen]

        if self.lamp:
            used = _those(things, self.lamp, "light")
            items.append(Item(used[0] if used else self.lamp, {"light": "on"}))
        return items

    def _wanted(self, name: str, things: Things) -> Item:
        # Where the object lies in a place of the right kind, that very place is the
        # wanted one.
        where = things.get(name, {}).get("place", "")
        place = where if _kind(where) == self.place else self.place
        condition = {"condition": self.condition} if self.condition else {}
        return Item(name, {"handled": PICKED, **condition, "place": place})


def _those(things: Things, kind: str, attribute: str) -> list[str]:
    """Names of the things of a kind that have an attribute."""
    return [
        name
        for name, attributes in things.items()
        if _kind(name) == kind and attribute in attributes
    ]


def wish(objective: str) -> Wish | None:
    """Parse an objective; None where it is of another kind."""
    if found := LIGHT.search(objective):
        return Wish(found["kind"], lamp=found["lamp"])
    if found := TWO.search(objective):
        return Wish(found["kind"], n=2, place=found["place"])
    if found := CHANGE.search(objective):
        return Wish(
            found["kind"], place=found["place"], condition=CONDITIONS[found["verb"]]
        )
    if found := PLACE.search(objective):
        return Wish(
            found["kind"], place=found["place"], condition=found["condition"] or ""
        )
    return None


def notice(things: Things, text: str) -> None:
    """Add what an observation says."""
    for on, within, contents in CONTENTS.findall(text):
        for name in ONE.findall(contents):
            things.setdefault(name, {})["place"] = on or within
    for name in TAKEN.findall(text):
        things.setdefault(name, {}).update(handled=PICKED, place=HAND)
    for name, place in PUT.findall(text):
        things.setdefault(name, {})["place"] = place
    for verb, name in CHANGED.findall(text):
        things.setdefault(name, {})["condition"] = CONDITIONS[verb]
    for light, name in SWITCHED.findall(text):
        things.setdefault(name, {})["light"] = light


def _kind(name: str) -> str:
    return name if name == HAND else name.partition(" ")[0]


def _read(transcript: Transcript, objective: str) -> Given | None:
    wanted = wish(objective)
    if wanted is None:
        return None
    things: Things = {}
    states: list[Items] = []
    goals: list[Items] = []
    for text in seen(transcript):
        notice(things, text)
        states.append(listed(things))
        goals.append(wanted.goal(things))
    return Given(states, goals)


RULES = Rules("household", _read)
