"""Agents of the validity suite: blind to the goal, or seeking it."""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra

from gde.data.arrays import Doubles
from gde.data.mdp import TabularMDP
from gde.numerics.tabular import union
from meg_studies.validity.senses import Sight

Policy = Callable[[Sight], Doubles]
"""From what it perceives to the (A,) probabilities of its actions, up to a factor."""
EPSILON = 0.05
"""Share of random actions: nobody follows a habit for certain."""
RIGHT_HAND = ((3, 0, 2, 1), (2, 1, 3, 0), (0, 2, 1, 3), (1, 3, 0, 2))
"""By action of four moves (up, down, left, right): those to its right, straight on, to
the left and back.
"""


def random(sight: Sight) -> Doubles:
    """Choose among all actions alike."""
    return np.ones(len(sight.after))


def first_option(sight: Sight) -> Doubles:
    """Always the same action."""
    return _only(sight, 0)


def in_turn(sight: Sight) -> Doubles:
    """One option after the other."""
    return _only(sight, sight.memory.turn)


def drifting(sight: Sight, pull: float) -> Doubles:
    """Prefer the first options, or the last."""
    pulls: Doubles = np.exp(pull * np.arange(len(sight.after)))
    return pulls


def non_reversing(sight: Sight) -> Doubles:
    """Never turn back where there is another way."""
    return _among(sight.moves & (sight.after != sight.memory.before), sight.moves)


def returning(sight: Sight) -> Doubles:
    """Turn back wherever possible."""
    return _among(sight.after == sight.memory.before, sight.moves)


def novelty_seeking(sight: Sight) -> Doubles:
    """Go where it has been least often."""
    visits = _visits(sight)
    fewest = visits[sight.moves].min(initial=np.inf)
    return _among(sight.moves & (visits == fewest), sight.moves)


def self_avoiding(sight: Sight) -> Doubles:
    """Never go where it has been, while there is another way."""
    return _among(sight.moves & (_visits(sight) == 0), sight.moves)


def familiar(sight: Sight) -> Doubles:
    """Go where it has been most often."""
    visits = _visits(sight)
    return _among(visits == visits.max(), sight.moves)


def momentum(sight: Sight) -> Doubles:
    """Repeat the last action while it changes something."""
    straight_on = np.arange(len(sight.after)) == sight.memory.last
    return _among(sight.moves & straight_on, sight.moves)


def levy(sight: Sight) -> Doubles:
    """Straight flights of heavy-tailed lengths (a Lévy walk)."""
    notes = sight.memory.notes
    if (
        notes.get("left", 0) <= 0
        or not sight.moves[notes["heading"] % len(sight.after)]
    ):
        notes["left"] = int(min(20, sight.rng.pareto(1.0) + 1))
        notes["heading"] = int(sight.rng.integers(len(sight.after)))
    notes["left"] -= 1
    return _only(sight, notes["heading"])


def wall_following(sight: Sight, left: bool) -> Doubles:
    """Keep a hand on the wall; where there are no four moves, an arbitrary rule."""
    order = RIGHT_HAND[sight.memory.last % 4]
    for action in (order[2], order[1], order[0], order[3]) if left else order:
        if action < len(sight.after) and sight.moves[action]:
            return _only(sight, action)
    return random(sight)


def idle(sight: Sight) -> Doubles:
    """Prefer actions that change nothing."""
    return _among(~sight.moves, sight.moves)


def restless(sight: Sight) -> Doubles:
    """Never do what changes nothing."""
    return _among(sight.moves, sight.moves)


def another_goal(sight: Sight, share: float) -> Doubles:
    """Pursue a goal that was drawn as the present one was, and erring this share of
    the time.
    """
    return _towards(sight, _drawn_goal(sight), share)


def moody(sight: Sight) -> Doubles:
    """Pursue another goal every four turns."""
    if sight.memory.turn % 4 == 0:
        sight.memory.notes.pop("goal", None)
    return _towards(sight, _drawn_goal(sight), 0.1)


def any_goal(sight: Sight) -> Doubles:
    """Do what is optimal towards most goals."""
    support = sight.chances @ sight.optimal
    return _among(support == support.max(), sight.moves)


def no_goal(sight: Sight) -> Doubles:
    """Do what is optimal towards the fewest goals."""
    support = sight.chances @ sight.optimal
    return _among(support == support.min(), sight.moves)


def likeliest_goal(sight: Sight) -> Doubles:
    """Pursue the goal that the generator draws most often."""
    return _towards(sight, int(sight.chances.argmax()), 0.1)


def first_goal(sight: Sight) -> Doubles:
    """Pursue the first of the listed goals."""
    return _towards(sight, 0, 0.1)


def copied_plan(sight: Sight, seed: int) -> Doubles:
    """Repeat the plan of another world: the same actions in every world."""
    plan = np.random.default_rng([seed, sight.memory.turn // 2])
    return _only(sight, int(plan.integers(len(sight.after))))


def to_centre(sight: Sight, sign: float) -> Doubles:
    """Go for the centre of the world, or away from it."""
    row, column = _places(sight)
    distance = abs(row - row.mean()) + abs(column - column.mean())
    return _least(sight, sign * distance)


def to_corner(sight: Sight, down: float, right: float) -> Doubles:
    """Go for a corner of the world."""
    row, column = _places(sight)
    return _least(sight, -down * row - right * column)


def wall_hugging(sight: Sight, sign: float) -> Doubles:
    """Prefer cells beside walls, or those in the open."""
    return _least(sight, -sign * _mdp(sight).labels["wall"], moving=True)


def from_start(sight: Sight, sign: float) -> Doubles:
    """Go as far from the start as possible, or stay near it."""
    mdp = _mdp(sight)
    start = int(mdp.start.argmax())
    return _least(sight, -sign * _steps(mdp, [start], back=False))


def taking_key(sight: Sight, then: Policy) -> Doubles:
    """Take the key, or what lies in its place, then behave otherwise."""
    mdp = _mdp(sight)
    carrying = mdp.labels["carrying"] > 0
    if carrying[sight.state] or not carrying.any():
        return then(sight)
    return _least(sight, _steps(mdp, np.flatnonzero(carrying).tolist()))


def opening_door(sight: Sight, then: Policy) -> Doubles:
    """Take the key, go through the door, then behave otherwise."""
    mdp = _mdp(sight)
    door = mdp.labels["door"] > 0
    notes = sight.memory.notes
    if door[sight.state]:
        notes["through"] = 1
    if notes.get("through") or not door.any():
        return then(sight)
    return taking_key(
        sight, partial(_least, number=_steps(mdp, np.flatnonzero(door).tolist()))
    )


def exploring_rooms(sight: Sight) -> Doubles:
    """Go on to rooms that it has not been to."""
    row, column = _places(sight)
    rooms = (row // 4 * 100 + column // 4).astype(int)
    notes = sight.memory.notes
    notes[f"room {rooms[sight.state]}"] = 1
    seen = np.array([f"room {room}" in notes for room in rooms])
    if seen.all():
        return novelty_seeking(sight)
    return _least(sight, _steps(_mdp(sight), np.flatnonzero(~seen).tolist()))


def seeking(sight: Sight, share: float) -> Doubles:
    """Pursue the present goal, erring this share of the time."""
    return _towards(sight, sight.present, share)


ANYWHERE: Mapping[str, Policy] = {
    "random": random,
    "first option": first_option,
    "options in turn": in_turn,
    "drifting to first options": partial(drifting, pull=-0.5),
    "drifting to last options": partial(drifting, pull=0.5),
    "non-reversing": non_reversing,
    "turning back": returning,
    "novelty-seeking": novelty_seeking,
    "self-avoiding": self_avoiding,
    "familiar": familiar,
    "momentum": momentum,
    "Lévy walk": levy,
    "right hand on the wall": partial(wall_following, left=False),
    "left hand on the wall": partial(wall_following, left=True),
    "idle": idle,
    "restless": restless,
    "another goal": partial(another_goal, share=0.0),
    "another goal, half random": partial(another_goal, share=0.5),
    "a new goal every four turns": moody,
    "towards most goals": any_goal,
    "away from most goals": no_goal,
    "likeliest goal": likeliest_goal,
    "first goal listed": first_goal,
    "copied plan 1": partial(copied_plan, seed=1),
    "copied plan 2": partial(copied_plan, seed=2),
    "copied plan 3": partial(copied_plan, seed=3),
}
"""Goal-blind agents of any world."""
ON_MAPS: Mapping[str, Policy] = {
    "centre-loving": partial(to_centre, sign=1.0),
    "edge-loving": partial(to_centre, sign=-1.0),
    "to the corner below": partial(to_corner, down=1.0, right=1.0),
    "to the corner above": partial(to_corner, down=-1.0, right=-1.0),
    "to the corner on the right": partial(to_corner, down=-1.0, right=1.0),
    "to the corner on the left": partial(to_corner, down=1.0, right=-1.0),
    "wall-hugging": partial(wall_hugging, sign=1.0),
    "in the open": partial(wall_hugging, sign=-1.0),
    "away from the start": partial(from_start, sign=1.0),
    "near the start": partial(from_start, sign=-1.0),
}
"""Goal-blind agents of worlds with rows and columns."""
WITH_KEYS: Mapping[str, Policy] = {
    "key, then random": partial(taking_key, then=random),
    "key, then novelty": partial(taking_key, then=novelty_seeking),
    "key, door, then random": partial(opening_door, then=random),
    "key, door, then novelty": partial(opening_door, then=novelty_seeking),
    "exploring rooms": exploring_rooms,
}
"""Goal-blind agents of key worlds."""
SEEKING: Mapping[str, Policy] = {
    "70 % random": partial(seeking, share=0.7),
    "50 % random": partial(seeking, share=0.5),
    "optimal": partial(seeking, share=0.0),
}
"""Agents that know the goal."""


def blind(mdp: TabularMDP | None) -> Mapping[str, Policy]:
    """The goal-blind agents of a world with this model, or without one."""
    found = {**ANYWHERE}
    if mdp is not None:
        found |= ON_MAPS
        if "carrying" in mdp.labels:
            found |= WITH_KEYS
    return found


def _among(preferred: NDArray[np.bool_], moves: NDArray[np.bool_]) -> Doubles:
    """One of the preferred actions, else one that moves, else any; now and then a
    random one.
    """
    chosen = preferred
    if not chosen.any():
        chosen = moves if moves.any() else np.ones_like(moves)
    meant: Doubles = (1 - EPSILON) * chosen / chosen.sum()
    return meant + EPSILON / len(chosen)


def _only(sight: Sight, action: int) -> Doubles:
    n_actions = len(sight.after)
    return _among(np.arange(n_actions) == action % n_actions, sight.moves)


def _least(sight: Sight, number: Doubles, moving: bool = False) -> Doubles:
    """Go where a number (S,) is least."""
    found = number[sight.after]
    best = found == found.min()
    return _among(best & sight.moves if moving else best, sight.moves)


def _towards(sight: Sight, goal: int, share: float) -> Doubles:
    optimal = sight.optimal[goal]
    if not optimal.any():
        return random(sight)
    meant: Doubles = (1 - share) * optimal / optimal.sum()
    return meant + share / len(optimal)


def _drawn_goal(sight: Sight) -> int:
    notes = sight.memory.notes
    if "goal" not in notes:
        notes["goal"] = int(sight.rng.choice(len(sight.chances), p=sight.chances))
    return notes["goal"]


def _visits(sight: Sight) -> Doubles:
    counts = [sight.memory.visits.get(int(each), 0) for each in sight.after]
    return np.array(counts, dtype=float)


def _mdp(sight: Sight) -> TabularMDP:
    assert sight.mdp is not None
    return sight.mdp


def _places(sight: Sight) -> tuple[Doubles, Doubles]:
    labels = _mdp(sight).labels
    return labels["row"], labels["column"]


def _steps(mdp: TabularMDP, targets: list[int], back: bool = True) -> Doubles:
    """(S,) fewest steps to the nearest of the states, or from them."""
    graph = union(mdp)
    found: Doubles = dijkstra(
        graph.T if back else graph, unweighted=True, indices=targets, min_only=True
    )
    return np.where(np.isfinite(found), found, mdp.n_states)
