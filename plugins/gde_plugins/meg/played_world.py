"""A world of which each action is played once in each state, however often it is taken."""

from dataclasses import dataclass, field

from gde.data.observation import Observation
from gde.errors import GdeError
from gde.parts.snapshots import Restorable


@dataclass(frozen=True, kw_only=True, eq=False)
class Moment:
    """A state of a world that was met."""

    number: int
    """Counts the states in the order in which they were met."""
    snapshot: object
    reached: float
    """The success, from 0 to 1."""
    is_end: bool
    actions: tuple[str, ...] | None
    after: dict[str, "Moment"] = field(default_factory=dict)
    """What the actions led to, as far as they were taken."""

    @property
    def options(self) -> tuple[str, ...]:
        """The admissible actions.

        Raises:
            GdeError: any text is one.
        """
        if self.actions is None:
            raise GdeError("the environment does not list its admissible actions")
        return self.actions


class PlayedWorld:
    """A deterministic world. States whose snapshots are equal are one."""

    def __init__(self, environment: Restorable, shown: Observation) -> None:
        """Take the environment at its start, and the observation there."""
        self._environment = environment
        self._known: dict[object, Moment] = {}
        self._stands: Moment
        self.start = self._met(shown, 0.0, is_end=False)

    def follow(self, moment: Moment, action: str) -> Moment:
        """Return the moment that an action leads to."""
        if action not in moment.after:
            self.arrive(moment)
            outcome = self._environment.step(action)
            # Only the horizon cuts an episode off: a state may be met at any turn.
            moment.after[action] = self._met(
                outcome.observation, float(outcome.success or 0), outcome.terminated
            )
        return moment.after[action]

    def arrive(self, moment: Moment) -> None:
        """Put the environment to a moment."""
        if self._stands is not moment:
            self._environment.restore(moment.snapshot)
            self._stands = moment

    def _met(self, shown: Observation, reached: float, is_end: bool) -> Moment:
        """Return the moment at which the environment stands."""
        snapshot = key = self._environment.snapshot()
        try:
            hash(snapshot)
        except TypeError:
            # Snapshots that cannot be compared are all different.
            key = object()
        if key not in self._known:
            self._known[key] = Moment(
                number=len(self._known),
                snapshot=snapshot,
                reached=reached,
                is_end=is_end,
                actions=shown.actions,
            )
        self._stands = self._known[key]
        return self._stands
