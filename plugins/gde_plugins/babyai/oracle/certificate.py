"""Certified optimal actions for every moment of an episode."""

from gde.data.observation import Optimum
from gde_plugins.babyai.oracle.bounds import Bound
from gde_plugins.babyai.oracle.distances import FAR
from gde_plugins.babyai.oracle.proof import is_impossible
from gde_plugins.babyai.oracle.search import Key, shortest
from gde_plugins.babyai.worlds.scene import ACTIONS
from gde_plugins.babyai.worlds.simulation import Simulation

EXACT, IMPOSSIBLE = "exact search", "proved impossible by exact search"


class Certificates:
    """Certifies the moments of one episode and remembers what each search found.

    A search settles the distance of every moment along its solution. A search that ran
    out of budget is repeated only after the agent has come nearer by the bound.
    """

    def __init__(self, budget: int) -> None:
        """Expand at most `budget` states for one moment; with 0 nothing is
        certified.
        """
        self._budget = budget
        self._left: dict[Key, int] = {}
        """Number of actions from a moment to the end; `FAR` if there is no solution."""
        self._optimal: dict[Key, tuple[str, ...] | None] = {}
        self._stopped_at = FAR
        """The bound at which the last search ran out of budget."""
        self._bound: Bound | None = None

    def optimum(self, now: Simulation) -> Optimum | None:
        """Return all optimal actions, or None if the budget does not suffice.

        The value is minus the number of actions left, as in a world where each costs
        one.
        """
        if now.over:
            return Optimum(actions=(), means=EXACT)
        if not self._budget:
            return None

        key = now.key
        if key not in self._optimal:
            self._optimal[key] = self._certify(now, key)
        optimal = self._optimal[key]
        if optimal is None:
            return None
        if not optimal:
            return Optimum(actions=(), means=IMPOSSIBLE)
        return Optimum(actions=optimal, value=-float(self._left[key]), means=EXACT)

    def _certify(self, now: Simulation, key: Key) -> tuple[str, ...] | None:
        if self._bound is None:
            self._bound = Bound(now)
            if is_impossible(now):
                return ()

        left = self._distance(now, key, self._bound)
        if left is None:
            return None
        if left >= FAR:
            return ()

        leads = {}
        for action in ACTIONS:
            leads[action] = self._leads(now, action, left - 1, self._bound)
        if None in leads.values():
            return None
        return tuple(action for action in ACTIONS if leads[action])

    def _distance(self, now: Simulation, key: Key, bound: Bound) -> int | None:
        """Return the number of actions to the end; None if the budget does not
        suffice.
        """
        if key in self._left:
            return self._left[key]
        lower = bound.of(now)
        if lower >= self._stopped_at:
            return None

        found = shortest(now, bound, self._budget)
        if not found.certain:
            self._stopped_at = lower
            return None
        if found.actions is None:
            self._left[key] = FAR
            return FAR
        self._remember(found.keys, len(found.actions))
        return len(found.actions)

    def _leads(
        self, now: Simulation, action: str, left: int, bound: Bound
    ) -> bool | None:
        """Return whether a solution of `left` actions remains after an action.

        The result is None if the budget does not suffice.
        """
        after = now.copy()
        after.act(action)
        key = after.key
        if after.over:
            return after.succeeded
        if key in self._left:
            return self._left[key] == left
        if bound.of(after) > left:
            return False

        found = shortest(after, bound, self._budget, longest=left)
        if not found.certain:
            return None
        self._remember(found.keys, left)
        return found.actions is not None

    def _remember(self, keys: tuple[Key, ...], left: int) -> None:
        """Keep the distances along a solution, without its end."""
        for index, key in enumerate(keys[:-1]):
            self._left[key] = left - index
