"""Trajectories as plain values, and back."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from gde.data.activations import Intervention
from gde.data.completion import Completion, Message
from gde.data.observation import Observation, State, World
from gde.data.trajectory import Decision, EpisodeKey, Trajectory, Turn
from gde.errors import GdeError


def trajectory_json(trajectory: Trajectory) -> dict[str, Any]:
    """A trajectory as plain values: equal trajectories give equal objects."""
    return {"episode": str(trajectory.key), **asdict(trajectory, dict_factory=_plain)}


def read_trajectory(plain: Mapping[str, Any]) -> Trajectory:
    """The trajectory that `trajectory_json` wrote.

    Raises:
        GdeError: it is none.
    """
    try:
        return Trajectory(
            **{name: plain[name] for name in ("seed", "labels", "horizon", "ending", "failure")},
            key=EpisodeKey(**plain["key"]),
            world=World(**plain["world"]),
            turns=tuple(map(_turn, plain["turns"])),
            final_state=_state(plain["final_state"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise GdeError(f"wanted a trajectory as `gde export --format jsonl` writes it ({error!r})") from error


def _plain(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    """The vectors of interventions are arrays; how long an answer took is not the same a second time."""
    told = ((name, value) for name, value in fields if name != "seconds")
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in told}


def _turn(plain: Mapping[str, Any]) -> Turn:
    shown, decided = plain["observation"], plain["decision"]
    return Turn(
        **{name: plain[name] for name in ("index", "reward", "terminated", "truncated", "success", "value")},
        observation=Observation(text=shown["text"], actions=_tuple(shown["actions"])),
        decision=Decision(**{**decided, "completion": _completion(decided["completion"])}),
        state=_state(plain["state"]),
        optimal=_tuple(plain["optimal"]),
    )


def _completion(plain: Mapping[str, Any] | None) -> Completion | None:
    if plain is None:
        return None
    marks = {name: tuple(places) for name, places in plain["marks"].items()}
    tokens = {name: tuple(plain[name]) for name in ("prompt_tokens", "tokens")}
    changes = tuple(
        Intervention(**{**each, "vector": np.array(each["vector"], dtype=np.float32)})
        for each in plain["interventions"]
    )
    prompt = tuple(Message(**each) for each in plain.get("prompt", ()))
    return Completion(**{**plain, **tokens, "marks": marks, "interventions": changes, "prompt": prompt})


def _state(plain: Mapping[str, Any] | None) -> State | None:
    return None if plain is None else State(**plain)


def _tuple(values: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)
