"""Trajectories as plain values, and back."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import inf
from typing import Any

import numpy as np

from gde.data.activations import Intervention
from gde.data.completion import Completion, Message
from gde.data.observation import Observation, State, World
from gde.data.trajectory import Decision, EpisodeKey, Trajectory, Turn
from gde.errors import GdeError


def trajectory_json(trajectory: Trajectory) -> dict[str, Any]:
    """Turn a trajectory into plain values. Equal trajectories give equal objects."""
    return {"episode": str(trajectory.key), **asdict(trajectory, dict_factory=_plain)}


def read_trajectory(plain: Mapping[str, Any]) -> Trajectory:
    """Read a trajectory that `trajectory_json` wrote.

    Raises:
        GdeError: it is none.
    """
    try:
        return Trajectory(
            key=EpisodeKey(**plain["key"]),
            seed=plain["seed"],
            world=World(**plain["world"]),
            labels=plain["labels"],
            horizon=plain["horizon"],
            ending=plain["ending"],
            failure=plain["failure"],
            turns=tuple(map(_turn, plain["turns"])),
            final_state=_state(plain["final_state"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise GdeError(
            f"wanted a trajectory as `gde export --format jsonl` writes it ({error!r})"
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


def _turn(plain: Mapping[str, Any]) -> Turn:
    shown = plain["observation"]
    decided = plain["decision"]
    return Turn(
        index=plain["index"],
        observation=Observation(text=shown["text"], actions=_tuple(shown["actions"])),
        decision=Decision(
            **{**decided, "completion": _completion(decided["completion"])}
        ),
        reward=plain["reward"],
        terminated=plain["terminated"],
        truncated=plain["truncated"],
        success=plain["success"],
        state=_state(plain["state"]),
        optimal=_tuple(plain["optimal"]),
        value=None if plain["value"] is None else float(plain["value"]),
    )


def _completion(plain: Mapping[str, Any] | None) -> Completion | None:
    if plain is None:
        return None
    changes = []
    for each in plain["interventions"]:
        vector = np.array(each["vector"], dtype=np.float32)
        changes.append(Intervention(**{**each, "vector": vector}))

    # JSON has no tuples.
    fields = {
        **plain,
        "prompt_tokens": tuple(plain["prompt_tokens"]),
        "tokens": tuple(plain["tokens"]),
        "logprobs": tuple(plain.get("logprobs", ())),
        "positions": {
            name: tuple(places) for name, places in plain["positions"].items()
        },
        "interventions": tuple(changes),
        "prompt": tuple(Message(**each) for each in plain.get("prompt", ())),
    }
    return Completion(**fields)


def _state(plain: Mapping[str, Any] | None) -> State | None:
    return None if plain is None else State(**plain)


def _tuple(values: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)
