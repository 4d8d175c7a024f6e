"""A world that episodes happen in."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from gde.data.mdp import TabularMDP
from gde.data.observation import Observation, Outcome, State, Task, World


@runtime_checkable
class Environment(Protocol):
    """One episode after another of a world; made once per worker, used by one episode at a time."""

    def reset(self, seed: int) -> Observation:
        """Begin an episode. The same seed gives the same world in any process.

        Settings that leave the world alone should leave it equal, so that they are compared on the same worlds.
        Settings that shape it should draw from streams of their own (`generator(seed, *settings)`), so that worlds
        of two settings are independent and not variations of each other.
        """

    def task(self) -> Task:
        """What the current episode asks for."""

    def world(self) -> World:
        """The fixed truth of the current episode."""

    def step(self, action: str) -> Outcome:
        """Take an admissible action.

        Raises:
            ValueError: `action` is not admissible, or the episode is over.
        """

    def snapshot(self) -> object:
        """The whole dynamic state, to be handed to `restore` of the same episode."""

    def restore(self, snapshot: object) -> Observation:
        """Go back to a snapshot, and show what was to be seen there."""

    def close(self) -> None:
        """Release what the environment holds."""


@runtime_checkable
class HasWorlds(Protocol):
    """Facet WORLDS: the worlds may be a list, e.g. the grids of a file, instead of another one for every seed."""

    def worlds(self) -> Sequence[str]:
        """A name for each world of the list, not the same when the world is another; empty where there is no list.

        `reset(seed)` begins world number `seed % len(worlds())`. A run uses each once: all of them or, where its plan
        asks for fewer, a random sample. It is asked before anything runs; a list that cannot be had is a `GdeError`
        of making the environment. A run that is resumed is refused when the names have changed.
        """


@runtime_checkable
class HasState(Protocol):
    """Facet STATE: the environment knows its true state."""

    def state(self) -> State:
        """The truth at this moment."""


@runtime_checkable
class HasModel(HasState, Protocol):
    """Facet MODEL: the environment can be tabulated; `state().index` is a row of the model."""

    def model(self) -> TabularMDP:
        """The Markov decision process of the current episode, with `actions` named.

        The same object as long as the world stays as it is, another one when it has changed in mid-episode: it is
        asked for before every turn, and solved again when it is new.
        """
