"""What is known of BabyAI's rooms after every turn: things by lasting names, wherever
they are carried.

Only the agent moves things, and always through the cell ahead of it, which is in sight
in every view. A thing that was there and is gone was taken up, or was a box that was
opened; a new thing there was put down.
"""

from collections.abc import Iterator
from dataclasses import replace

from gde_plugins.statefactory.rules.baby_mission import Words
from gde_plugins.statefactory.rules.room_texts import Moment, Place, Thing

NOTHING = "nothing"


class Rooms:
    """The things seen so far, by names such as "red ball" and, the second of its like,
    "red ball 2".
    """

    def __init__(self, first: Moment) -> None:
        self.now = first
        self.things: dict[str, Thing] = {}
        """Where each was seen last; the thing that the agent carries is where the agent
        is.
        """
        self.held = ""
        """Name of the thing that the agent carries; empty for none."""
        self.dropped = ""
        """Name of the thing that the last action put down; empty for none."""
        self._first = first
        self._first_places: dict[str, Place] = {}

        if first.carrying not in (None, NOTHING):
            color, _, kind = str(first.carrying).partition(" ")
            self.held = self._add(Thing(kind, color, first.agent))
        self.see(first, "")

    def see(self, now: Moment, action: str) -> None:
        """Follow what a turn shows after an action; empty for no action."""
        self.now = now
        self.dropped = ""
        shown = {thing.place: thing for thing in now.things}
        names = {
            thing.place: name
            for name, thing in self.things.items()
            if name != self.held
        }

        name_ahead = names.get(now.front, "")
        if name_ahead:
            shown_ahead = shown.get(now.front)
            if shown_ahead is None or not shown_ahead.looks_like(
                self.things[name_ahead]
            ):
                del names[now.front]
                self._remove(name_ahead, action)

        for thing in now.things:
            name = names.get(thing.place) or self._name_of_new(thing)
            self.things[name] = self._with_door_followed(name, thing, action)

        if self.held:
            self.things[self.held] = replace(self.things[self.held], place=now.agent)

    def meant(self, words: Words) -> list[str]:
        """Names of the things that a description fits, the nearest to the agent
        first.
        """
        agent_x, agent_y = self.now.agent

        def distance(name: str) -> int:
            x, y = self.things[name].place
            return abs(x - agent_x) + abs(y - agent_y)

        return sorted(
            (name for name in self.things if self._fits(name, words)), key=distance
        )

    def ahead(self) -> str:
        """Name of the thing that the agent faces; "nothing" where there is none."""
        return next(self._at(self.now.front), NOTHING)

    def beside(self, name: str) -> list[str]:
        """Names of the things right of, left of, below and above a thing, in this
        order.
        """
        x, y = self.things[name].place
        found: list[str] = []
        for place in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
            found.extend(self._at(place))
        return found

    def _at(self, place: Place) -> Iterator[str]:
        return (
            name
            for name, thing in self.things.items()
            if thing.place == place and name != self.held
        )

    def _remove(self, name: str, action: str) -> None:
        """The thing ahead is gone: it was taken up, or it was a box that was opened."""
        is_taken = self.now.carrying != NOTHING
        if (
            self.now.carrying is None
        ):  # the text does not say, so that the action has to
            is_taken = action == "pickup"
        if is_taken and not self.held:
            self.held = name
        else:
            del self.things[name]

    def _name_of_new(self, thing: Thing) -> str:
        """The name of a thing where none was known: the carried one, put down, or one
        seen for the first time.
        """
        held = self.things.get(self.held)
        if held is None or thing.place != self.now.front or not thing.looks_like(held):
            return self._add(thing)
        self.dropped = self.held
        self.held = ""
        return self.dropped

    def _add(self, thing: Thing) -> str:
        n_alike = sum(thing.looks_like(other) for other in self.things.values())
        name = f"{thing} {n_alike + 1}" if n_alike else str(thing)
        self.things[name] = thing
        self._first_places[name] = thing.place
        return name

    def _with_door_followed(self, name: str, thing: Thing, action: str) -> Thing:
        """The thing as it is shown; where texts do not say whether a door is open, it
        is followed from closed on.
        """
        if thing.kind != "door" or thing.open is not None:
            return thing
        was_open = bool(self.things[name].open)
        is_toggled = (
            action == "toggle" and thing.place == self.now.front and not thing.locked
        )
        return replace(thing, open=was_open != is_toggled)

    def _fits(self, name: str, words: Words) -> bool:
        thing = self.things[name]
        if words.kind not in ("", thing.kind) or words.color not in ("", thing.color):
            return False
        return not words.location or self._lay(self._first_places[name], words.location)

    def _lay(self, place: Place, location: str) -> bool:
        """Whether a place is on that side of the agent's first place, in the agent's
        first room.
        """
        x, y = self._first.agent
        pitch = self._first.room - 1  # neighbouring rooms share a wall
        for start, coordinate in zip((x, y), place, strict=True):
            wall = start // pitch * pitch
            if not wall <= coordinate <= wall + pitch:
                return False

        # The side is the sign of the products of the offset with the agent's direction
        # and with its right hand.
        offset_x = place[0] - x
        offset_y = place[1] - y
        facing_x = self._first.front[0] - x
        facing_y = self._first.front[1] - y
        ahead = offset_x * facing_x + offset_y * facing_y
        right = offset_y * facing_x - offset_x * facing_y
        if location == "front":
            return ahead > 0
        if location == "behind":
            return ahead < 0
        return right > 0 if location == "right" else right < 0
