"""Trajectories as plain values, and back."""

from collections.abc import Mapping
from dataclasses import asdict
from math import inf
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from gde.data.activations import Intervention
from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.foreign import fault

_TRAJECTORY = TypeAdapter(Trajectory)
# Completions name this type for type checkers alone.
_TRAJECTORY.rebuild(_types_namespace={"Intervention": Intervention})


def trajectory_json(trajectory: Trajectory) -> dict[str, Any]:
    """Turn a trajectory into plain values. Equal trajectories give equal objects."""
    return {"episode": str(trajectory.key), **asdict(trajectory, dict_factory=_plain)}


def read_trajectory(plain: Mapping[str, Any]) -> Trajectory:
    """Read a trajectory that `trajectory_json` wrote.

    Raises:
        GdeError: it is none.
    """
    try:
        return _TRAJECTORY.validate_python(plain)
    except (TypeError, ValueError) as error:
        said = fault(error) if isinstance(error, ValidationError) else error
        raise GdeError(
            f"wanted a trajectory as `gde export` writes it ({said})"
        ) from error


def _plain(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(fields)
    # The seconds that an answer took differ from run to run.
    found.pop("seconds", None)
    # Never recorded.
    found.pop("raw", None)
    for name, value in found.items():
        if isinstance(value, np.ndarray):
            found[name] = value.tolist()
        # JSON has no infinite numbers.
        elif value == -inf:
            found[name] = "-inf"
    return found
