"""The household of AlfWorld: where things were last seen, what was done to them, and which of them a goal is about."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gde.data.trajectory import Trajectory
from gde_plugins.statefactory.rules.given import Rules, Things, Told, listed, seen
from gde_plugins.statefactory.state import Item, Items

THING = r"([a-z]+ \d+)"
CONTENTS = re.compile(rf"(?:On the {THING}|The {THING} is open\. In it), you see ([^.]*)\.")
ONE = re.compile(rf"\ban? {THING}")
TAKEN = re.compile(rf"You pick up the {THING}")
PUT = re.compile(rf"You (?:move|put) the {THING} (?:to|in/on|in|on) the {THING}")
CHANGED = re.compile(rf"You (heat|cool|clean|slice) the {THING}")
SWITCHED = re.compile(rf"You turn (on|off) the {THING}")
CONDITIONS = {"heat": "hot", "cool": "cool", "clean": "clean", "slice": "sliced"}

TWO = re.compile(r"(?:find|put) two (?P<kind>\w+)(?: and put them)? (?:in/on|in|on) (?:the )?(?P<place>\w+)")
CHANGE = re.compile(r"(?P<verb>clean|heat|cool) some (?P<kind>\w+) and put it (?:in/on|in|on) (?:the )?(?P<place>\w+)")
PLACE = re.compile(
    r"put (?:some|an?|the) (?:(?P<condition>clean|hot|cool) )?(?P<kind>\w+) (?:in/on|in|on) (?:the )?(?P<place>\w+)"
)
LIGHT = re.compile(r"(?:look at|examine) (?:the |an? )?(?P<kind>\w+) (?:under|with) the (?P<lamp>\w*lamp)")

HAND, PICKED = "in the hand", "picked up"


@dataclass(frozen=True)
class Wish:
    """What is asked for."""

    kind: str
    n: int = 1
    place: str = HAND
    condition: str = ""
    lamp: str = ""

    def goal(self, things: Things) -> Items:
        """Objects to be had, by the names of those that were picked up first as soon as there are any."""
        handled = [name for name, told in things.items() if _kind(name) == self.kind and "handled" in told]
        chosen = [*handled[: self.n], *[self.kind] * (self.n - len(handled))]
        return [*(self._one(name, things) for name in chosen), *self._lamp(things)]

    def _one(self, name: str, things: Things) -> Item:
        where = things.get(name, {}).get("place", "")
        place = where if _kind(where) == self.place else self.place
        condition = {"condition": self.condition} if self.condition else {}
        return Item(name, {"handled": PICKED, **condition, "place": place})

    def _lamp(self, things: Things) -> Iterator[Item]:
        if self.lamp:
            used = (name for name, told in things.items() if _kind(name) == self.lamp and "light" in told)
            yield Item(next(used, self.lamp), {"light": "on"})


def wish(objective: str) -> Wish | None:
    """What an objective asks for; none where it is not of this kind."""
    if found := LIGHT.search(objective):
        return Wish(found["kind"], lamp=found["lamp"])
    if found := TWO.search(objective):
        return Wish(found["kind"], n=2, place=found["place"])
    if found := CHANGE.search(objective):
        return Wish(found["kind"], place=found["place"], condition=CONDITIONS[found["verb"]])
    if found := PLACE.search(objective):
        return Wish(found["kind"], place=found["place"], condition=found["condition"] or "")
    return None


def notice(things: Things, text: str) -> None:
    """Take down what an observation tells."""
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


def _read(trajectory: Trajectory, objective: str) -> Told | None:
    wanted = wish(objective)
    if wanted is None:
        return None
    things: Things = {}
    states, goals = [], []
    for text in seen(trajectory):
        notice(things, text)
        states.append(listed(things))
        goals.append(wanted.goal(things))
    return Told(states, goals)


RULES = Rules("household", _read)
