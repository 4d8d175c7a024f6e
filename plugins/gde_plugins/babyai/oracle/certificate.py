"""Certified bounds of the optimum for every moment of an episode.

A search raises the lower bounds of all moments that it expands (Koenig and Likhachev
2006, adaptive A*), and the expert's way gives upper bounds. Where the two meet, the
optimum is exact. Searches of an episode share one budget, so that the time of a turn is
bounded in the mean, and a search at the first turn serves all later ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gde.data.observation import Optimum
from gde_plugins.babyai.oracle.bot import OmniBot
from gde_plugins.babyai.oracle.bounds import Bound
from gde_plugins.babyai.oracle.distances import FAR
from gde_plugins.babyai.oracle.proof import is_impossible
from gde_plugins.babyai.oracle.search import Key, shortest
from gde_plugins.babyai.worlds.scene import ACTIONS
from gde_plugins.babyai.worlds.simulation import Simulation

EXACT, IMPOSSIBLE = "exact search", "proved impossible by exact search"


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What is certain about the optimum of a moment."""

    left: tuple[int, int]
    """The least and the most actions that a shortest solution has; `FAR` for none."""
    optimal: tuple[str, ...]
    """Actions that are certainly optimal."""
    undecided: tuple[str, ...] = ()
    """Actions that may be optimal. All others certainly are not."""


class _Learned:
    """The lower bounds of one scene, raised by what searches have found."""

    def __init__(self, bound: Bound) -> None:
        self._bound = bound
        self._least: dict[Key, int] = {}

    def of(self, now: Simulation) -> int:
        if now.over:
            return 0 if now.succeeded else FAR
        key = now.key
        if key not in self._least:
            self._least[key] = self._bound.of(now)
        return self._least[key]

    def raise_to(self, key: Key, least: int) -> None:
        """Raise the bound of a moment."""
        self._least[key] = max(self._least.get(key, 0), least)


class Certificates:
    """Certifies the moments of one episode."""

    def __init__(self, budget: int) -> None:
        """Expand at most `budget` states for each turn in the mean; with 0 nothing is
        certified.
        """
        self._budget = budget
        self._turns = 0
        self._spent = 0
        self._first = 0
        self._bounds: dict[Key, Bounds] = {}
        self._exact: dict[Key, int] = {}
        """Actions left from a moment; `FAR` if there is no solution."""
        self._most: dict[Key, int] = {}
        """The length of some solution from a moment."""
        self._learned: _Learned | None = None

    def optimum(self, now: Simulation) -> Optimum | None:
        """Return all optimal actions, or None if not all of them are certain.

        The value is minus the number of actions left, as in a world where each costs
        one.
        """
        if now.over:
            return Optimum(actions=(), means=EXACT)
        bounds = self.bounds(now)
        if bounds is None or bounds.undecided:
            return None
        least, most = bounds.left
        if least >= FAR:
            return Optimum.out_of_reach(IMPOSSIBLE)
        value = -float(least) if least == most else None
        return Optimum(actions=bounds.optimal, value=value, means=EXACT)

    def bounds(self, now: Simulation) -> Bounds | None:
        """Return what is certain; None without a budget.

        The mission must not be over.
        """
        if not self._budget:
            return None
        key = now.key
        if key not in self._bounds:
            self._turns += 1
            self._bounds[key] = self._certify(now, key)
        return self._bounds[key]

    def _certify(self, now: Simulation, key: Key) -> Bounds:
        if self._learned is None:
            self._learned = _Learned(Bound(now))
            self._first = self._learned.of(now)
        if is_impossible(now):
            self._learned.raise_to(key, FAR)
        learned = self._learned
        if learned.of(now) >= FAR:
            return Bounds(left=(FAR, FAR), optimal=())

        if key not in self._most:
            self._follow_expert(now)
        if key not in self._exact:
            self._search(now, key, learned)
        least = learned.of(now)
        most = self._most.get(key, FAR)
        if least >= FAR:
            return Bounds(left=(FAR, FAR), optimal=())

        optimal = []
        undecided = []
        for action in ACTIONS:
            is_optimal = self._is_optimal(now, key, action, learned)
            if is_optimal is None:
                undecided.append(action)
            elif is_optimal:
                optimal.append(action)
        return Bounds(
            left=(least, most), optimal=tuple(optimal), undecided=tuple(undecided)
        )

    @property
    def _left_over(self) -> int:
        """The states that may be expanded now.

        An episode has at least as many turns as the first bound says.
        """
        turns = max(self._turns, min(self._first, FAR))
        return max(0, self._budget * turns - self._spent)

    def _follow_expert(self, now: Simulation) -> None:
        """Note the length of the expert's way from a moment and those along it."""
        ahead = now.copy()
        bot = OmniBot(ahead, budget=0)
        keys: list[Key] = []
        while not ahead.over and len(keys) < ahead.scene.max_steps:
            action = bot.suggest(ahead)
            if action is None:
                return
            keys.append(ahead.key)
            ahead.act(action)
        if ahead.succeeded:
            self._remember(keys, len(keys))

    def _search(self, now: Simulation, key: Key, learned: _Learned) -> None:
        """Search for a solution shorter than the known one."""
        most = self._most.get(key, FAR)
        if learned.of(now) < most:
            self._expand(now, learned, most - 1)
        least = learned.of(now)
        if least >= self._most.get(key, FAR):
            self._exact[key] = least

    def _expand(self, start: Simulation, learned: _Learned, longest: int) -> int | None:
        """Search once, and return the length of a solution; `FAR` for none.

        The result is None if the budget does not suffice.
        """
        budget = self._left_over
        if budget <= 0:
            return None
        found = shortest(start, learned, budget, longest, self._exact)
        self._spent += len(found.expanded)
        for key, cost in found.expanded.items():
            # Where there is no solution at all, none is nearer from further on.
            is_none = found.lower >= FAR
            learned.raise_to(key, FAR if is_none else found.lower - cost)
        if found.length is None:
            learned.raise_to(start.key, found.lower)
            return FAR if found.certain else None

        for index, key in enumerate(found.keys):
            left = found.length - index
            if left:
                self._exact[key] = left
                learned.raise_to(key, left)
        self._remember(found.keys, found.length)
        return found.length

    def _is_optimal(
        self, now: Simulation, key: Key, action: str, learned: _Learned
    ) -> bool | None:
        """Return whether an action is optimal; None if that is not certain."""
        after = now.copy()
        after.act(action)
        if after.over:
            return after.succeeded
        # Nothing has changed, so as many actions are left.
        if after.key == key:
            return False
        if learned.of(after) + 1 > self._most.get(key, FAR):
            return False
        if self._most.get(after.key, FAR) + 1 <= learned.of(now):
            return True
        if key not in self._exact:
            return None
        left = self._exact[key] - 1
        length = self._expand(after, learned, left)
        return None if length is None else length == left

    def _remember(self, keys: Sequence[Key], length: int) -> None:
        """Note a solution of this length along some moments."""
        for index, key in enumerate(keys):
            self._most[key] = min(self._most.get(key, FAR), length - index)
