"""The bound of the search against true distances, in every state of worlds that are
small enough to enumerate.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import pytest

from gde_plugins.babyai.oracle.bounds import Bound
from gde_plugins.babyai.oracle.distances import FAR
from gde_plugins.babyai.worlds.mission import (
    Both,
    Description,
    GoTo,
    InOrder,
    Mission,
    Open,
    Pickup,
    PutNext,
)
from gde_plugins.babyai.worlds.scene import (
    ACTIONS,
    FREE,
    NOTHING,
    WALL,
    Door,
    Kind,
    Scene,
    Thing,
)
from gde_plugins.babyai.worlds.simulation import Simulation

DOORS: Mapping[str, Door] = {"/": Door.OPEN, "|": Door.CLOSED, "!": Door.LOCKED}


def drawn(
    rows: list[str],
    mission: Callable[[Mapping[str, Description]], Mission],
    *,
    held: str = "",
) -> Scene:
    """A scene from a picture.

    `#` is a wall, `.` a free cell, `@` the agent, who faces east. `/`, `|` and `!` are
    a red door: open, closed, locked. `k` is its key. Any other letter is a ball, which
    `held` puts into the agent's hands.
    """
    width = len(rows[0])
    text = "".join(rows)
    letters = [letter for letter in text if letter not in "#.@"]
    if held:
        letters.append(held)

    contents = {"#": WALL, ".": FREE, "@": FREE}
    cells = [
        contents[letter] if letter in contents else letters.index(letter)
        for letter in text
    ]
    kinds: dict[str, Kind] = {"k": "key", "B": "box", **dict.fromkeys(DOORS, "door")}
    things = [Thing(kinds.get(letter, "ball"), "red") for letter in letters]
    known = [
        text.index(letter) if letter in text else text.index("@") for letter in letters
    ]

    meant = {
        letter: Description("", "", "", (number,))
        for number, letter in enumerate(letters)
    }
    return Scene(
        level="Drawn",
        seed=0,
        width=width,
        height=len(rows),
        room=width,
        rooms=(1, 1),
        cells=tuple(cells),
        things=tuple(things),
        doors=tuple(
            int(DOORS[letter]) if letter in DOORS else NOTHING for letter in letters
        ),
        known=tuple(known),
        agent=text.index("@"),
        direction=0,
        carrying=len(letters) - 1 if held else NOTHING,
        mission=mission(meant),
        text="",
        max_steps=10**6,
    )


def either(one: Description, other: Description) -> Description:
    """Words that may mean two things."""
    return Description("", "", "", (*one.things, *other.things))


@dataclass
class States:
    """All states that can be reached, with their distances to success."""

    moments: dict[tuple[object, ...], Simulation]
    distance: dict[tuple[object, ...], int]

    @classmethod
    def of(cls, scene: Scene) -> "States":
        start = Simulation(scene)
        moments = {cls.key(start): start}
        before: dict[tuple[object, ...], list[tuple[object, ...]]] = {}
        border = deque([start])
        while border:
            now = border.popleft()
            for action in ACTIONS if not now.over else ():
                after = now.copy()
                after.act(action)
                key = cls.key(after)
                before.setdefault(key, []).append(cls.key(now))
                if key not in moments:
                    moments[key] = after
                    border.append(after)

        distance = {key: 0 for key, now in moments.items() if now.succeeded}
        ends = deque(distance)
        while ends:
            key = ends.popleft()
            for earlier in before.get(key, ()):
                if earlier not in distance:
                    distance[earlier] = distance[key] + 1
                    ends.append(earlier)
        return cls(moments, distance)

    @staticmethod
    def key(now: Simulation) -> tuple[object, ...]:
        return (*now.key, now.verdict)


class Slack(NamedTuple):
    """How far the bound falls short of the true distances of a world."""

    states: int
    """Number of states from which success can be reached."""
    exact: int
    """Number of them in which the bound is the true distance."""
    actions: int
    """Sum of true distance minus bound over the states."""


def slack(scene: Scene) -> Slack:
    """Compare the bound with every true distance.

    Raises:
        AssertionError: the bound exceeds one.
    """
    states = States.of(scene)
    bound = Bound(Simulation(scene))
    missing = []
    for key, distance in states.distance.items():
        lower = bound.of(states.moments[key])
        assert lower <= distance, (
            f"the bound {lower} exceeds the true distance {distance}"
        )
        missing.append(distance - lower)
    return Slack(len(missing), missing.count(0), sum(missing))


ROOM = ["#####", "#@..#", "#..a#", "#####"]
PAIR = ["#####", "#@.a#", "#..b#", "#####"]
SCENES: dict[str, Scene] = {
    "go to": drawn(ROOM, lambda the: GoTo(the["a"])),
    "go to what is faced": drawn(["####", "#@a#", "####"], lambda the: GoTo(the["a"])),
    "pick up": drawn(ROOM, lambda the: Pickup(the["a"])),
    "pick up, hands full": drawn(
        ["######", "#@..a#", "######"], lambda the: Pickup(the["a"]), held="x"
    ),
    "open a closed door": drawn(
        ["######", "#@.|.#", "######"], lambda the: Open(the["|"])
    ),
    "open an open door": drawn(
        ["######", "#@./.#", "######"], lambda the: Open(the["/"])
    ),
    "open a locked door": drawn(
        ["######", "#@k!.#", "#..###", "######"], lambda the: Open(the["!"])
    ),
    "behind a closed door": drawn(
        ["######", "#@.|a#", "######"], lambda the: GoTo(the["a"])
    ),
    "behind a locked door": drawn(
        ["######", "#k@!a#", "#..###", "######"], lambda the: GoTo(the["a"])
    ),
    "behind an open door": drawn(
        ["######", "#@./a#", "######"], lambda the: Pickup(the["a"])
    ),
    "put next": drawn(PAIR, lambda the: PutNext(the["a"], the["b"])),
    "put next, far apart": drawn(
        ["######", "#a.@b#", "#....#", "######"],
        lambda the: PutNext(the["a"], the["b"]),
    ),
    "put next, hands full": drawn(
        ["#####", "#@a.#", "#.b.#", "#####"],
        lambda the: PutNext(the["a"], the["b"]),
        held="x",
    ),
    "put what is held": drawn(
        ["#####", "#@..#", "#..b#", "#####"],
        lambda the: PutNext(the["x"], the["b"]),
        held="x",
    ),
    "put next to what is held": drawn(
        ["#####", "#@..#", "#..a#", "#####"],
        lambda the: PutNext(the["a"], the["x"]),
        held="x",
    ),
    "put next to a thing in a niche": drawn(
        ["########", "#a.@.|b#", "#..#####", "########"],
        lambda the: PutNext(the["a"], the["b"]),
    ),
    "put a far thing next to a thing in a niche": drawn(
        ["#########", "#a...@|b#", "#..######", "#########"],
        lambda the: PutNext(the["a"], the["b"]),
    ),
    "put what is held next to a thing in a niche": drawn(
        ["#######", "#@..|b#", "#..####", "#######"],
        lambda the: PutNext(the["x"], the["b"]),
        held="x",
    ),
    "put next, through a door and back": drawn(
        ["########", "#b.@|.a#", "########"], lambda the: PutNext(the["a"], the["b"])
    ),
    "go to two": drawn(PAIR, lambda the: Both(GoTo(the["a"]), GoTo(the["b"]))),
    "go to two on two sides": drawn(
        ["#######", "#a.@.b#", "#######"],
        lambda the: Both(GoTo(the["a"]), GoTo(the["b"])),
    ),
    "go to a far one first": drawn(
        ["#######", "#@b..a#", "#.....#", "#######"],
        lambda the: InOrder(GoTo(the["a"]), GoTo(the["b"])),
    ),
    "pick up two in order": drawn(
        PAIR, lambda the: InOrder(Pickup(the["a"]), Pickup(the["b"]))
    ),
    "pick up, then go to": drawn(
        PAIR, lambda the: InOrder(Pickup(the["a"]), GoTo(the["b"]))
    ),
    "go to, then pick up": drawn(
        PAIR, lambda the: InOrder(GoTo(the["a"]), Pickup(the["b"]))
    ),
    "go to where a box was opened": drawn(
        ["#######", "#a.@B.#", "#######"],
        lambda the: InOrder(GoTo(the["a"]), GoTo(the["B"])),
    ),
    "pick up the same": drawn(
        ROOM, lambda the: InOrder(GoTo(the["a"]), Pickup(the["a"]))
    ),
    "pick up, then open": drawn(
        ["######", "#@a|.#", "#..###", "######"],
        lambda the: InOrder(Pickup(the["a"]), Open(the["|"])),
    ),
    "open, then pick up": drawn(
        ["######", "#@.|a#", "######"],
        lambda the: InOrder(Open(the["|"]), Pickup(the["a"])),
    ),
    "go to a far one, then open": drawn(
        ["#######", "#a.@/.#", "#######"],
        lambda the: InOrder(GoTo(the["a"]), Open(the["/"])),
    ),
    "put, then go to": drawn(
        ["#####", "#@a.#", "#.b.#", "#####"],
        lambda the: InOrder(PutNext(the["a"], the["b"]), GoTo(the["b"])),
    ),
    "put, and go to": drawn(
        ["#####", "#@a.#", "#.b.#", "#####"],
        lambda the: Both(PutNext(the["a"], the["b"]), GoTo(the["b"])),
    ),
    "go to either": drawn(
        ["#######", "#a@..b#", "#######"], lambda the: GoTo(either(the["b"], the["a"]))
    ),
    "pick up either": drawn(
        ["#######", "#a@..b#", "#######"],
        lambda the: Pickup(either(the["b"], the["a"])),
    ),
    "open either": drawn(
        ["#######", "#|@../#", "#######"], lambda the: Open(either(the["/"], the["|"]))
    ),
    "put either next": drawn(
        ["#######", "#ab@.c#", "#######"],
        lambda the: PutNext(either(the["c"], the["a"]), the["b"]),
    ),
    "go to either in order": drawn(
        ["########", "#a.@b.c#", "########"],
        lambda the: InOrder(GoTo(either(the["c"], the["a"])), GoTo(the["b"])),
    ),
    "put next while something else lies about": drawn(
        ["#####", "#c@a#", "#.b##", "#####"], lambda the: PutNext(the["a"], the["b"])
    ),
}


EXPECTED: dict[str, Slack] = {
    "go to": Slack(states=20, exact=20, actions=0),
    "go to what is faced": Slack(states=6, exact=6, actions=0),
    "pick up": Slack(states=22, exact=22, actions=0),
    "pick up, hands full": Slack(states=75, exact=22, actions=204),
    "open a closed door": Slack(states=9, exact=9, actions=0),
    "open an open door": Slack(states=30, exact=30, actions=0),
    "open a locked door": Slack(states=133, exact=85, actions=104),
    "behind a closed door": Slack(states=17, exact=17, actions=0),
    "behind a locked door": Slack(states=392, exact=316, actions=132),
    "behind an open door": Slack(states=21, exact=21, actions=0),
    "put next": Slack(states=1940, exact=980, actions=1848),
    "put next, far apart": Slack(states=4960, exact=2636, actions=4556),
    "put next, hands full": Slack(states=7741, exact=2740, actions=12398),
    "put what is held": Slack(states=1941, exact=981, actions=1848),
    "put next to what is held": Slack(states=1941, exact=980, actions=1849),
    "put next to a thing in a niche": Slack(states=5909, exact=2290, actions=17584),
    "put a far thing next to a thing in a niche": Slack(
        states=8769, exact=3498, actions=26553
    ),
    "put what is held next to a thing in a niche": Slack(
        states=3770, exact=1415, actions=10541
    ),
    "put next, through a door and back": Slack(states=863, exact=298, actions=3866),
    "go to two": Slack(states=408, exact=368, actions=40),
    "go to two on two sides": Slack(states=210, exact=162, actions=48),
    "go to a far one first": Slack(states=6798, exact=5769, actions=1427),
    "pick up two in order": Slack(states=1248, exact=642, actions=1344),
    "pick up, then go to": Slack(states=1200, exact=994, actions=413),
    "go to, then pick up": Slack(states=2396, exact=1364, actions=1667),
    "go to where a box was opened": Slack(states=440, exact=242, actions=454),
    "pick up the same": Slack(states=40, exact=40, actions=0),
    "pick up, then open": Slack(states=148, exact=134, actions=14),
    "open, then pick up": Slack(states=29, exact=29, actions=0),
    "go to a far one, then open": Slack(states=328, exact=286, actions=42),
    "put, then go to": Slack(states=3120, exact=1120, actions=6640),
    "put, and go to": Slack(states=4181, exact=2156, actions=3889),
    "go to either": Slack(states=9, exact=9, actions=0),
    "pick up either": Slack(states=14, exact=14, actions=0),
    "open either": Slack(states=31, exact=31, actions=0),
    "put either next": Slack(states=286, exact=126, actions=642),
    "go to either in order": Slack(states=448, exact=282, actions=270),
    "put next while something else lies about": Slack(
        states=2524, exact=689, actions=6203
    ),
}


@pytest.mark.parametrize("name", SCENES)
def test_the_bound_never_exceeds_a_true_distance_and_is_as_tight_as_it_was(
    name: str,
) -> None:
    """A bound that is looser by one action anywhere makes the search longer; one that
    is tighter may make it wrong.
    """
    assert slack(SCENES[name]) == EXPECTED[name]


def test_the_bound_is_far_where_a_wall_is_in_the_way() -> None:
    now = Simulation(drawn(["#####", "#@#a#", "#####"], lambda the: GoTo(the["a"])))
    assert Bound(now).of(now) >= FAR


@pytest.mark.parametrize("gone", ["first", "second"])
def test_the_bound_is_far_once_a_thing_to_be_put_or_to_be_put_beside_is_gone(
    gone: str,
) -> None:
    """A box that is opened is no more: nobody can pick it up or put anything by it."""

    def mission(the: Mapping[str, Description]) -> Mission:
        box, ball = the["B"], the["a"]
        return PutNext(box, ball) if gone == "first" else PutNext(ball, box)

    now = Simulation(drawn(["######", "#@B.a#", "#....#", "######"], mission))
    assert Bound(now).of(now) < FAR
    now.act("toggle")
    assert Bound(now).of(now) >= FAR


WIDE = ["#" * 30] * 10 + ["#a...@....b" + "." * 18 + "#", "#" * 30]


@pytest.mark.parametrize(
    ("rows", "mission", "bound"),
    [
        # Two turns and three steps to face a; two turns and seven steps to face b.
        (WIDE, lambda the: InOrder(GoTo(the["a"]), GoTo(the["b"])), 14),
        # Both b: three steps and a hand. First a, then c, takes one more.
        (
            ["########", "#c@.a.b#", "########"],
            lambda the: InOrder(
                GoTo(either(the["a"], the["b"])), Pickup(either(the["b"], the["c"]))
            ),
            4,
        ),
    ],
)
def test_the_bound_of_two_clauses_is_that_of_the_shortest_pair_of_things(
    rows: list[str],
    mission: Callable[[Mapping[str, Description]], Mission],
    bound: int,
) -> None:
    now = Simulation(drawn(rows, mission))
    assert Bound(now).of(now) == bound
