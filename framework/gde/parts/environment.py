"""Environments, in which episodes happen, and the capabilities that they can have."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from gde.data.goals import Goals
from gde.data.mdp import TabularMDP
from gde.data.observation import Observation, Optimum, Outcome, State, Task, World


@runtime_checkable
class Environment(Protocol):
    """One episode after another of a world.

    It is used by one episode at a time, always in the same thread.

    A call may take long, e.g. to ask a simulator in another process: no other episode
    waits for it.
    """

    def reset(self, seed: int) -> Observation:
        """Begin an episode. The same seed gives the same world in any process.

        Settings that leave the world alone should leave it equal, so that they are
        compared on the same worlds. Settings that shape it should draw from streams of
        their own (`generator(seed, *settings)`), so that worlds of two settings are
        independent and not variations of each other.
        """

    def task(self) -> Task:
        """What the current episode asks for."""

    def world(self) -> World:
        """The fixed truth of the current episode."""

    def step(self, action: str) -> Outcome:
        """Take an action: an admissible one, or any text if none are listed.

        A text may have several lines.

        Raises:
            ValueError: `action` is not admissible, or the episode is over.
        """

    def close(self) -> None:
        """Release what the environment holds."""


@runtime_checkable
class HasWorlds(Protocol):
    """Capability WORLDS: the worlds may be a list, e.g. the grids of a file.

    Otherwise every seed gives another world.
    """

    def worlds(self) -> Sequence[str]:
        """A distinct name for each world of the list; empty without a list.

        `reset(seed)` begins world number `seed % len(worlds())`. A run uses each once:
        all of them or, where its plan asks for fewer, a random sample. The list is read
        before anything runs; making the environment raises `GdeError` where it cannot
        be read. A run is not resumed after the names have changed.
        """


@runtime_checkable
class HasRemarks(Protocol):
    """Capability REMARKS: readers of a result should know more about the worlds."""

    def remarks(self) -> Sequence[str]:
        """A sentence on each: how many records of a file were left out, and why
        (`gde.foreign.Account`), or which of two readings a default has.

        They are shown before a run and with its result.
        """


@runtime_checkable
class HasTasks(HasWorlds, Protocol):
    """Several worlds of the list belong to one task, and are compared with each other.

    A run uses all worlds of a task or none: the episodes of a plan are then tasks.
    """

    def tasks_of_worlds(self) -> Sequence[str]:
        """The task of each world of the list, whose worlds follow one another."""


@runtime_checkable
class HasState(Protocol):
    """Capability STATE: the environment knows its true state."""

    def state(self) -> State:
        """The truth at this moment."""


@runtime_checkable
class HasOptimum(Protocol):
    """Capability OPTIMUM: the environment knows the optimal actions.

    They may come from a planner or an expert, for example.
    """

    def optimum(self) -> Optimum | None:
        """All optimal actions at this moment, and how they are known.

        None where they are not known at this moment, e.g. because a search would take
        too long.
        """


@runtime_checkable
class HasDemonstration(Protocol):
    """Capability DEMONSTRATION: the environment shows how to reach its goal.

    The actions may come from a planner or a person's record, for example.
    """

    def demonstration(self) -> Sequence[str]:
        """Actions that in order reach all of the goal; empty where none are known.

        They need not be the best ones. The world stays as it is.
        """


@runtime_checkable
class HasMDP(HasState, Protocol):
    """Capability MDP: the environment is a table of states and actions.

    `state().index` is a row of the model. The capability gives OPTIMUM too.
    """

    def mdp(self) -> TabularMDP:
        """The Markov decision process of the current episode, with `actions` named.

        Give the same object as long as the world stays as it is, and a new one when it
        has changed in mid-episode. The run asks for it before every turn and solves it
        again when it is new.
        """


@runtime_checkable
class HasGoals(Protocol):
    """Capability GOALS: the environment draws its goal again, from its own generator.

    An agent that is blind to the goal acts alike whichever goal was drawn. That is what
    the test of goal-directedness rests on, so the probabilities must be those of the
    generator. Nothing in the world may be random after `reset`, and only the task's
    horizon may cut an episode off.
    """

    def goals(self) -> Goals:
        """The goals that the generator could have drawn in the present episode.

        Their probabilities are given everything else: the start, the layout, and every
        condition that the generator applies, e.g. a world that is drawn again if the
        goal is too far. They may be given more, if it does not tell the goals apart:
        goals that are as far from the start as the present one, for example. The
        fewer of these goals an agent comes upon by chance on its way to another, the
        more a test can see.

        A generator with too many goals to list draws some, independently of each other.
        It then gives each its share among these draws and the present goal.

        Raises:
            GdeError: there is no generator, or it cannot draw the goal alone; the
                message says why.
        """

    def set_goal(self, goal: str) -> Observation:
        """Begin the present episode again with another of its goals.

        Nothing else changes, and `goals()` gives the same probabilities.

        Raises:
            ValueError: `goal` is none of `goals()`.
        """


@runtime_checkable
class HasSimulator(Protocol):
    """Capability SIMULATOR: a second environment can stand in for this one.

    It begins with the same seed and is put to the same moment.

    Agents try actions in it, see `gde.parts.simulator`. An environment that gives the
    capability without SNAPSHOT is put back by replay; nothing in it may be random then.
    """

    def reseed(self, seed: int) -> None:
        """Draw all later randomness by another seed; world and moment stay.

        Otherwise an agent that tries an action would learn its random outcome. Without
        randomness, do nothing.
        """


@runtime_checkable
class HasSnapshot(Protocol):
    """Capability SNAPSHOT: the environment saves and restores its state.

    `gde.parts.snapshots` does it for all others by replay.
    """

    def snapshot(self) -> object:
        """The whole dynamic state, to be handed to `restore` of the same episode.

        Snapshots of moments with the same future may compare equal. Worlds without a
        model are then explored state by state.
        """

    def restore(self, snapshot: object) -> Observation:
        """Go back to a snapshot, and give the observation of that moment."""
