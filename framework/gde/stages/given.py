"""What an environment gives, checked before anything of it is recorded.

A wrong value fails the episode in which it is given, by the name of the method.
"""

from typing import TypeVar

from gde.data.observation import Observation, Task, World
from gde.validating import check_fields

T = TypeVar("T")


def of_kind(given: object, kind: type[T], call: str) -> T:
    """What a method of an environment gave.

    Raises:
        TypeError: it is nothing of this kind.
    """
    if not isinstance(given, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise TypeError(f"{call} must give {article} {kind.__name__}, got {given!r}")
    return given


def check_shown(given: object, call: str) -> None:
    """Check an observation.

    Raises:
        TypeError: it is something else, or shows something else than text.
    """
    observation = of_kind(given, Observation, call)
    _check(observation.text, str, call, "a text")
    _check_names(observation.actions, call)


def check_task(given: object) -> None:
    """Check a task.

    Raises:
        TypeError: it is something else, or a field has a value of another type.
        ValueError: its horizon is no number of turns.
    """
    task = of_kind(given, Task, "task")
    _check(task.horizon, int, "task", "a horizon")
    _check(task.objective, str, "task", "an objective")
    _check_names(task.actions, "task")
    if not 1 <= task.horizon < 2**63:
        raise ValueError(
            f"task() must give a horizon of 1 turn or more, got {task.horizon}"
        )


def check_world(given: object) -> None:
    """Check a world.

    Raises:
        TypeError: it is something else.
        ConfigError: a field has a value of another type.
    """
    check_fields(of_kind(given, World, "world"), "world()")


def _check_names(actions: object, call: str) -> None:
    """Check the names of actions, or None where any text may be tried."""
    if actions is None:
        return
    if not isinstance(actions, tuple | list):
        raise TypeError(f"{call} must give a tuple of actions, got {actions!r}")
    for name in actions:
        _check(name, str, call, "an action")


def _check(value: object, kind: type, call: str, what: str) -> None:
    if not isinstance(value, kind):
        raise TypeError(
            f"{call} must give {what} that is {kind.__name__}, got {value!r}"
        )
