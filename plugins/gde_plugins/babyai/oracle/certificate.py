"""The certified optimal actions of every moment of an episode, each worked out once."""

from gde.data.observation import Optimum
from gde_plugins.babyai.oracle.bounds import Bound
from gde_plugins.babyai.oracle.distances import FAR
from gde_plugins.babyai.oracle.proof import is_impossible
from gde_plugins.babyai.oracle.search import Key, shortest
from gde_plugins.babyai.worlds.scene import ACTIONS
from gde_plugins.babyai.worlds.simulation import Simulation

EXACT, IMPOSSIBLE = "exact search", "proved impossible by exact search"


class Certificates:
    """Keeps what was found out in an episode: along a shortest way, each moment's distance is known.

    A search that was stopped is not repeated before the agent has come nearer by the bound.
    """

    def __init__(self, budget: int) -> None:
        """States that may be looked at for one moment."""
        self._budget = budget
        self._left: dict[Key, int] = {}
        """Actions from a moment to the end; `FAR` where there is no way."""
        self._optimal: dict[Key, tuple[str, ...] | None] = {}
        self._stopped_at = FAR
        self._bound: Bound | None = None

    def optimum(self, now: Simulation) -> Optimum | None:
        """All optimal actions; None where the budget does not tell, or no search is wanted.

        The value is minus the actions that are left, as in a world where each costs one.
        """
        if not self._budget or now.over:
            return None if not now.over else Optimum(actions=(), means=EXACT)
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
        verdicts = [self._leads(now, action, left - 1, self._bound) for action in ACTIONS]
        if None in verdicts:
            return None
        return tuple(action for action, leads in zip(ACTIONS, verdicts, strict=True) if leads)

    def _distance(self, now: Simulation, key: Key, bound: Bound) -> int | None:
        """Actions to the end; None where the budget does not tell."""
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
        for place, passed in enumerate(found.keys[:-1]):
            self._left[passed] = len(found.actions) - place
        return len(found.actions)

    def _leads(self, now: Simulation, action: str, left: int, bound: Bound) -> bool | None:
        """Whether an action leaves a way of so many actions."""
        after = now.copy()
        after.act(action)
        key = after.key
        if after.over or key in self._left:
            return after.succeeded if after.over else self._left[key] == left
        if bound.of(after) > left:
            return False
        found = shortest(after, bound, self._budget, longest=left)
        if not found.certain:
            return None
        for place, passed in enumerate(found.keys[:-1]):
            self._left[passed] = left - place
        return found.actions is not None
