"""Assertions whose sentences name the broken promise."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gde.data.trajectory import Trajectory


def promise(kept: object, sentence: str) -> None:
    """Raise an AssertionError with the sentence unless the promise is kept.

    It works under `python -O` too.
    """
    if not kept:
        raise AssertionError(sentence)


def promise_equal(first: object, second: object, sentence: str) -> None:
    """Check that two values are equal; the error shows both."""
    promise(first == second, f"{sentence}; got {_short(first)} and {_short(second)}")


def promise_protocol(part: object, protocol: type[Any]) -> None:
    """Check that the part has every method and property of the protocol."""
    names = [name for name in dir(protocol) if not name.startswith("_")]
    lacking = [name for name in names if not hasattr(part, name)]
    promise(
        not lacking,
        f"{type(part).__name__} must have {', '.join(lacking)} to be a {protocol.__name__}",
    )


def promise_json(value: object, whose: str) -> None:
    """Check that the journal can hold the value.

    It must be JSON without NaN, infinity or NumPy scalars.
    """
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise AssertionError(f"{whose} must hold plain JSON values: {error}") from error


@contextmanager
def promise_raises(expected: type[Exception], sentence: str) -> Iterator[None]:
    """Check that the block raises this exception."""
    try:
        yield
    except expected:
        return
    except Exception as error:
        raise AssertionError(
            f"{sentence}; got {type(error).__name__}: {error}"
        ) from error
    raise AssertionError(f"{sentence}; nothing was raised")


def calling(action: Callable[[], object], sentence: str) -> Any:
    """Call the action and give its result; an exception breaks the promise."""
    try:
        return action()
    except Exception as error:
        raise AssertionError(
            f"{sentence}; got {type(error).__name__}: {error}"
        ) from error


def unknown(method: str, trajectory: Trajectory, error: Exception) -> str:
    """The sentence for a part that raises on an episode.

    The world may not be made for the part.
    """
    got = f"got {type(error).__name__}: {error}"
    where = f"episode {trajectory.key} of world {trajectory.world.id!r}"
    return f"{method} must not raise on {where}, {got}; a part for other worlds is checked with `trajectories` of them"


def close(first: NDArray[Any], second: NDArray[Any]) -> bool:
    """Whether two arrays are equal up to rounding."""
    return np.allclose(first, second, rtol=1e-3, atol=1e-4)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}..."
