"""Failures that are harder to tell from a success than random steps.

Each begins where its success begins. Its truth is measured at every step, so that
progress, neutral and harmful steps are known.
"""

from collections.abc import Callable, Mapping

import numpy as np

from gde_plugins.reward_prediction.domains import Failure
from gde_plugins.reward_prediction.files import Record
from gde_plugins.reward_prediction.play import Play, Unsuitable

TRIES = 50
"""Trajectories that are begun, at most, in one world."""
NOISE = 0.5
"""Share of the noisy agent's steps that are random."""


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


def scored(play: Play, n_steps: int, rng: np.random.Generator) -> bool:
    """Act at random; progress is kept, and the truth is what the environment scores."""
    return _never_reached(play, n_steps, lambda: play.take(play.choose(rng)))


MAKERS: Mapping[Failure, Callable[[Play, int, np.random.Generator], bool]] = {
    "near-miss": near_miss,
    "undone": undone,
    "noisy": noisy,
    "scored": scored,
}


def _never_reached(play: Play, n_steps: int, act: Callable[[], None]) -> bool:
    """Act up to a number of steps, unless the goal is reached; whether it is not."""
    while len(play.steps) < n_steps and not play.over:
        act()
        if play.reached:
            return False
    return True


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
