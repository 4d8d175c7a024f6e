"""Failures that are harder to tell from a success than random steps.

Each begins where its success begins. Its truth is measured at every step, so that
progress, neutral and harmful steps are known.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from gde_plugins.reward_prediction.domains import Failure
from gde_plugins.reward_prediction.files import Record
from gde_plugins.reward_prediction.play import Play, Unsuitable

TRIES = 50
"""Trajectories that are begun, at most, in one world."""
NOISE = 0.5
"""Share of the noisy agent's steps that are random."""
WORD = re.compile(r"\w+")


def make_failure(
    kind: Failure, begin: Callable[[], Play], n_steps: int, rng: np.random.Generator
) -> Record:
    """Record a failure of a kind.

    Args:
        kind: one of `MAKERS`.
        begin: begins an episode at the task.
        n_steps: of the success; only an undone success may take more.
        rng: draws the trials.

    Raises:
        Unsuitable: no trial ends as a failure of this kind.
    """
    for _ in range(TRIES):
        play = begin()
        try:
            done = MAKERS[kind](play, n_steps, rng)
        except Unsuitable:
            continue
        if done and play.steps and not play.reached:
            return play.record(failure=kind)
    raise Unsuitable(f"no failure of the kind {kind} in {TRIES} trials")


def near_miss(play: Play, n_steps: int, rng: np.random.Generator) -> bool:
    """Follow the demonstration but for its last step, then take any other steps."""
    while len(play.way) > 1:
        play.follow()
    missed = _never_reached(play, n_steps, lambda: _stray(play, rng))
    return missed and not play.steps[-1].is_expert


def disordered(play: Play, n_steps: int, rng: np.random.Generator) -> bool:
    """Take the steps of the demonstration in another order, as far as they are
    admissible, and any others between.
    """
    left = Counter(play.way)
    order = play.way.copy()
    taken: list[str] = []
    while len(play.steps) < n_steps and not play.over and left.total():
        possible = [action for action in left if left[action] and play.admits(action)]
        # Another than the next in order, where there is one.
        due = next(action for action in order if left[action])
        others = [action for action in possible if action != due] or possible
        if not others:
            play.take(play.choose(rng))
        else:
            action = others[int(rng.integers(len(others)))]
            left[action] -= 1
            taken.append(action)
            play.take(action, expert=True)
        if play.reached:
            return False
    return 2 * len(taken) >= len(order) and taken != order[: len(taken)]


def undone(play: Play, n_steps: int, rng: np.random.Generator) -> bool:
    """Reach the goal, or all but the last step where that ends the episode, and undo it
    by other steps.
    """
    while play.way and not play.over:
        if len(play.way) == 1 and not play.plays_on:
            break
        play.follow()
    best = play.steps[-1].shaped if play.steps else 0.0
    n_left = max(1, n_steps - len(play.steps))
    for _ in range(1 + int(rng.integers(n_left))):
        if play.over:
            break
        _stray(play, rng)
    return bool(play.steps) and play.steps[-1].shaped < best


def noisy(play: Play, n_steps: int, rng: np.random.Generator) -> bool:
    """Follow the demonstration in every other step on average, else act at random."""

    def act() -> None:
        if rng.random() < NOISE or not play.way or not play.admits(play.way[0]):
            play.take(play.choose(rng))
        else:
            play.follow()

    return _never_reached(play, n_steps, act)


def misnamed(play: Play, n_steps: int, rng: np.random.Generator) -> bool:
    """Follow the demonstration, but name another object in every other step on
    average: the admissible action that shares most words with the right one.

    A language model often knows what kind of step is due, and errs about the object.
    """

    def act() -> None:
        if not play.way or not play.admits(play.way[0]):
            play.take(play.choose(rng))
            return
        due = play.way[0]
        others = [action for action in play.seen.actions or () if action != due]
        if not others or rng.random() >= NOISE:
            play.follow()
        else:
            play.take(_most_alike(due, others, rng))

    return _never_reached(play, n_steps, act)


def greedy(play: Play, n_steps: int, rng: np.random.Generator) -> bool:
    """Take the action that names most words of the objective."""
    objective = play.environment.task().objective

    def act() -> None:
        if not play.seen.actions:
            raise Unsuitable("there is no action")
        play.take(_most_alike(objective, play.seen.actions, rng))

    return _never_reached(play, n_steps, act)


def scored(play: Play, n_steps: int, rng: np.random.Generator) -> bool:
    """Act at random; progress is kept, and the truth is what the environment scores."""
    return _never_reached(play, n_steps, lambda: play.take(play.choose(rng)))


MAKERS: Mapping[Failure, Callable[[Play, int, np.random.Generator], bool]] = {
    "near-miss": near_miss,
    "disordered": disordered,
    "undone": undone,
    "noisy": noisy,
    "misnamed": misnamed,
    "greedy": greedy,
    "scored": scored,
}


def _never_reached(play: Play, n_steps: int, act: Callable[[], None]) -> bool:
    """Act up to a number of steps, unless the goal is reached; whether it is not."""
    while len(play.steps) < n_steps and not play.over:
        act()
        if play.reached:
            return False
    return True


def _most_alike(text: str, actions: Sequence[str], rng: np.random.Generator) -> str:
    """The action that shares most words with a text, of equals a random one."""
    wanted = {*WORD.findall(text.lower())}
    shared = [len(wanted & {*WORD.findall(each.lower())}) for each in actions]
    most = max(shared)
    best = [each for each, n in zip(actions, shared, strict=True) if n == most]
    return best[int(rng.integers(len(best)))]


def _stray(play: Play, rng: np.random.Generator) -> None:
    """Take a random action other than the demonstration's next.

    Raises:
        Unsuitable: there is none.
    """
    banned = frozenset({(action,) for action in play.way[:1]})
    action = play.choose(rng, banned)
    if not action:
        raise Unsuitable("there is no other action")
    play.take(action)
