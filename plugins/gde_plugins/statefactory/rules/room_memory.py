"""What is known of BabyAI's rooms after every turn: things by lasting names, wherever they are carried.

Only the agent moves things, and always through the cell ahead of it, which is in sight in every view: what was there
and is gone was taken up, or was a box that was opened, and what is new there was put down.
"""

from collections.abc import Iterator
from dataclasses import replace

from gde_plugins.statefactory.rules.baby_mission import Words
from gde_plugins.statefactory.rules.room_texts import Moment, Place, Thing

NOTHING = "nothing"


class Rooms:
    """The things that were seen so far, by names such as "red ball" and, the second of its like, "red ball 2"."""

    def __init__(self, first: Moment) -> None:
        self.now = self._first = first
        self.things: dict[str, Thing] = {}
        """Where each was seen last; what is carried is where the agent is."""
        self.held = ""
        self.dropped = ""
        """What the last action put down."""
        self._began: dict[str, Place] = {}
        if first.carrying not in (None, NOTHING):
            color, _, kind = str(first.carrying).partition(" ")
            self.held = self._new(Thing(kind, color, first.agent))
        self.see(first, "")

    def see(self, now: Moment, action: str) -> None:
        """Take down what a turn shows, after an action; empty for none."""
        self.now, self.dropped = now, ""
        there = {thing.place: thing for thing in now.things}
        known = {thing.place: name for name, thing in self.things.items() if name != self.held}
        ahead = known.get(now.front, "")
        if ahead and str(there.get(now.front, "")) != str(self.things[ahead]):
            self._gone(known.pop(now.front), action)
        for thing in now.things:
            name = known.get(thing.place) or self._come(thing)
            self.things[name] = self._kept(name, thing, action)
        if self.held:
            self.things[self.held] = replace(self.things[self.held], place=now.agent)

    def meant(self, words: Words) -> list[str]:
        """The names of the things that a description is about, the nearest first."""
        x, y = self.now.agent
        found = [name for name in self.things if self._fits(name, words)]
        return sorted(found, key=lambda name: abs(self.things[name].place[0] - x) + abs(self.things[name].place[1] - y))

    def ahead(self) -> str:
        """The name of what the agent faces; "nothing" for nothing."""
        return next(self._at(self.now.front), NOTHING)

    def beside(self, name: str) -> list[str]:
        """What lies right above, below, left or right of a thing."""
        x, y = self.things[name].place
        around = ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1))
        return [other for place in around for other in self._at(place)]

    def _at(self, place: Place) -> Iterator[str]:
        return (name for name, thing in self.things.items() if thing.place == place and name != self.held)

    def _gone(self, name: str, action: str) -> None:
        taken = action == "pickup" if self.now.carrying is None else self.now.carrying != NOTHING
        if taken and not self.held:
            self.held = name
        else:
            del self.things[name]

    def _come(self, thing: Thing) -> str:
        held = self.things.get(self.held)
        if held is None or thing.place != self.now.front or str(thing) != str(held):
            return self._new(thing)
        self.dropped, self.held = self.held, ""
        return self.dropped

    def _new(self, thing: Thing) -> str:
        alike = sum(str(thing) == str(other) for other in self.things.values())
        name = f"{thing} {alike + 1}" if alike else str(thing)
        self.things[name], self._began[name] = thing, thing.place
        return name

    def _kept(self, name: str, thing: Thing, action: str) -> Thing:
        """The thing as it is seen. Where doors are not told to be open, they are followed from closed on."""
        if thing.kind != "door" or thing.open is not None:
            return thing
        was_open = bool(self.things[name].open)
        turned = action == "toggle" and thing.place == self.now.front and not thing.locked
        return replace(thing, open=was_open != turned)

    def _fits(self, name: str, words: Words) -> bool:
        thing = self.things[name]
        alike = words.kind in ("", thing.kind) and words.color in ("", thing.color)
        return alike and (not words.location or self._lay(self._began[name], words.location))

    def _lay(self, place: Place, location: str) -> bool:
        """Whether a place is on a side of where the agent began, in the room where it did."""
        (x, y), (ahead_x, ahead_y), step = self._first.agent, self._first.front, self._first.room - 1
        i, j, forth, down = place[0] - x, place[1] - y, ahead_x - x, ahead_y - y
        inside = all(a // step * step <= b <= a // step * step + step for a, b in zip((x, y), place, strict=True))
        ahead, right = i * forth + j * down, j * forth - i * down
        return inside and {"front": ahead > 0, "behind": ahead < 0, "right": right > 0, "left": right < 0}[location]
