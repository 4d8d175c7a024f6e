"""Between the frozen types of a trajectory and the rows of run.sqlite."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import isnan
from sqlite3 import Row
from typing import Any

import numpy as np

from gde.data.activations import Intervention
from gde.data.completion import Completion, Message
from gde.data.json import Labels
from gde.data.observation import Observation, State, World
from gde.data.trajectory import ENDINGS, Decision, EpisodeKey, Trajectory, Turn
from gde.store import digests
from gde.store.damage import decoding

_decode = json.JSONDecoder().decode
_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)


def to_json(value: Any) -> str:
    """Compact and with sorted keys: equal values give equal bytes."""
    return _ENCODER.encode(value)


def told_json(told: Mapping[str, Any], what: str) -> str:
    """As `to_json`, of what an environment tells by name.

    Raises:
        TypeError: a value is none of JSON's. The message names it.
    """
    try:
        return to_json(told)
    except (TypeError, ValueError) as error:
        for name, value in told.items():
            try:
                to_json({name: value})
            except (TypeError, ValueError):
                raise TypeError(
                    f"the {what} {name!r} must be made of text, finite numbers, lists and mappings"
                    f" (NumPy: `.tolist()`): {error}"
                ) from error
        raise


def episode_row(
    key: EpisodeKey, seed: int, world: World, labels: Mapping[str, Any], horizon: int
) -> tuple[Any, ...]:
    """A row of `episodes` at the beginning of the episode."""
    return (
        str(key),
        key.condition,
        key.world,
        key.repeat,
        seed,
        world.id,
        world.base,
        told_json(world.facts, "fact"),
        told_json(world.labels, "label"),
        to_json(labels),
        horizon,
    )


def turn_row(key: EpisodeKey, turn: Turn) -> tuple[Any, ...]:
    """A row of `turns`."""
    state = turn.state
    decision = turn.decision
    actions = turn.observation.actions
    return (
        str(key),
        turn.index,
        turn.observation.text,
        None if actions is None else _list(tuple(actions)),
        None if state is None else told_json(state.facts, "fact"),
        None if state is None else state.index,
        None if turn.optimal is None else _list(tuple(turn.optimal)),
        _real(turn.value),
        decision.status,
        decision.action,
        decision.detail,
        decision.completion.request if decision.completion else None,
        _real(turn.reward),
        turn.terminated,
        turn.truncated,
        _real(turn.success),
        to_json(decision.probabilities) if decision.probabilities else None,
    )


def call_row(scope: str, turn: int | None, completion: Completion) -> tuple[Any, ...]:
    """A row of `calls`."""
    return (
        scope,
        completion.request,
        completion.model,
        turn,
        completion.text,
        completion.reasoning,
        completion.finish,
        pack(completion.prompt_tokens),
        pack(completion.tokens),
        to_json(completion.positions),
        completion.n_prompt,
        completion.n_completion,
        completion.answered_by,
        to_json([each.identity for each in completion.interventions]),
        completion.cached,
        to_json([[each.role, each.content] for each in completion.prompt]),
        completion.seconds,
        completion.effort,
        np.asarray(completion.logprobs, dtype="<f4").tobytes(),
    )


def intervention_row(each: Intervention) -> tuple[Any, ...]:
    """A row of `interventions`."""
    vector = each.vector.astype("<f4")
    return (
        each.identity,
        each.layer,
        each.position,
        each.kind,
        each.place,
        to_json(vector.shape),
        vector.tobytes(),
    )


@decoding("interventions")
def read_intervention(row: Row) -> Intervention:
    """The intervention in a row of `interventions`."""
    vector = np.frombuffer(row["vector"], dtype="<f4").reshape(json.loads(row["shape"]))
    return Intervention(
        layer=row["layer"],
        position=row["position"],
        kind=row["kind"],
        place=row["place"],
        vector=vector,
    )


@decoding("calls")
def read_completion(
    row: Sequence[Any], interventions: tuple[Intervention, ...]
) -> Completion:
    """The completion in a row of `calls`, with the interventions that the row names."""
    # By position, which takes half the time of looking columns up by name: most of
    # reading a run is this.
    (
        _,
        request,
        model,
        _,
        text,
        reasoning,
        finish,
        prompt_tokens,
        tokens,
        positions,
        *rest,
    ) = row
    n_prompt, n_completion, answered_by, _, cached, prompt, *rest = rest
    seconds, effort, logprobs, _ = rest
    return Completion(
        text=text,
        reasoning=reasoning,
        finish=finish,
        prompt_tokens=unpack(prompt_tokens),
        tokens=unpack(tokens),
        positions={name: tuple(places) for name, places in _decode(positions).items()},
        n_prompt=n_prompt,
        n_completion=n_completion,
        answered_by=answered_by,
        request=request,
        model=model,
        interventions=interventions,
        cached=bool(cached),
        prompt=tuple(
            Message(role=role, content=content) for role, content in _decode(prompt)
        ),
        seconds=seconds,
        effort=effort,
        logprobs=tuple(np.frombuffer(logprobs, "<f4").tolist()) if logprobs else (),
    )


def read_turn(row: Sequence[Any], completion: Completion | None) -> Turn:
    """The turn in a row of `turns`."""
    # By position, as above.
    (
        _,
        index,
        text,
        actions,
        state,
        state_index,
        optimal,
        value,
        status,
        action,
        detail,
        _,
        *rest,
    ) = row
    reward, terminated, truncated, success, probabilities, *_ = rest
    return Turn(
        index=index,
        observation=Observation(text=text, actions=_tuple(actions)),
        decision=Decision(
            status=status,
            action=action,
            detail=detail,
            completion=completion,
            probabilities=_probabilities(probabilities) if probabilities else {},
        ),
        reward=reward,
        terminated=bool(terminated),
        truncated=bool(truncated),
        success=success,
        state=None if state is None else State(facts=_decode(state), index=state_index),
        optimal=_tuple(optimal),
        value=value,
    )


@decoding("turns or episodes")
def read_trajectory(
    episode: str, row: Row | None, part: Sequence[Row], calls: Mapping[str, Completion]
) -> Trajectory:
    """An episode from its row, the rows of its turns and their completions.

    Raises:
        RunFolderError: one of them is missing, or not as it was written.
    """
    if row is None or not digests.is_whole("episodes", row):
        raise digests.damaged(episode)
    if not all(digests.is_whole("turns", each) for each in part):
        raise digests.damaged(episode)
    if row["ending"] not in ENDINGS:
        raise ValueError(f"no ending is called {row['ending']!r}")
    turns = [read_turn(each, calls.get(each["completion"])) for each in part]
    facts = _decode(row["facts"])
    labels = _labels(row["world_labels"])
    final = row["final_state"]
    return Trajectory(
        key=EpisodeKey(
            condition=row["condition"], world=row["world"], repeat=row["repeat"]
        ),
        seed=row["seed"],
        world=World(id=row["world_id"], facts=facts, labels=labels, base=row["base"]),
        labels=_labels(row["labels"]),
        horizon=row["horizon"],
        turns=tuple(turns),
        ending=row["ending"],
        failure=row["failure"],
        final_state=None if final is None else State(**_decode(final)),
    )


def as_read(one: Trajectory) -> Trajectory:
    """An episode as whoever reads it from run.sqlite gets it."""
    world = one.world
    final = one.final_state
    turns = []
    for turn in one.turns:
        completion = turn.decision.completion
        if completion is not None:
            row = (*call_row("", turn.index, completion), None)
            completion = read_completion(row, completion.interventions)
        turns.append(read_turn(turn_row(one.key, turn), completion))
    return replace(
        one,
        world=replace(world, facts=_decode(to_json(world.facts))),
        turns=tuple(turns),
        final_state=final and replace(final, facts=_decode(to_json(final.facts))),
    )


def _real(value: float | None) -> float | None:
    if value is None:
        return None
    # SQLite would make NaN NULL.
    if isnan(value):
        raise ValueError("wanted a number, got nan")
    # It keeps no sign of zero.
    return float(value) + 0.0


def pack(tokens: Sequence[int]) -> bytes:
    """Token ids as bytes."""
    return np.asarray(tokens, dtype="<i4").tobytes() if tokens else b""


def unpack(blob: bytes) -> tuple[int, ...]:
    """Token ids from their bytes."""
    return tuple(np.frombuffer(blob, dtype="<i4").tolist()) if blob else ()


# Both are cached, since most rows have one of a few lists of actions.
@lru_cache(maxsize=4096)
def _list(actions: tuple[str, ...]) -> str:
    return to_json(actions)


@lru_cache(maxsize=4096)
def _tuple(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(map(_text, json.loads(text)))


def _labels(text: str) -> Labels:
    found = dict(_decode(text))
    if any(isinstance(each, dict | list) for each in found.values()):
        raise ValueError("wanted labels")
    return found


def _probabilities(text: str) -> dict[str, float]:
    return {action: float(each) for action, each in _decode(text).items()}


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"wanted text, got {value!r}")
    return value
