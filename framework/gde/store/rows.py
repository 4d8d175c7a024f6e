"""Between the frozen types of a trajectory and the rows of run.sqlite."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from sqlite3 import Row
from typing import Any

import numpy as np

from gde.data.activations import Intervention
from gde.data.completion import Completion, Message
from gde.data.observation import Observation, State, World
from gde.data.trajectory import Decision, EpisodeKey, Status, Trajectory, Turn
from gde.errors import RunFolderError
from gde.store.checksums import ADVICE, check

_decode = json.JSONDecoder().decode
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def to_json(value: Any) -> str:
    """Compact and with sorted keys: equal values give equal bytes."""
    return _ENCODER.encode(value)


def episode_row(key: EpisodeKey, seed: int, world: World, labels: Mapping[str, Any], horizon: int) -> tuple[Any, ...]:
    """A row of `episodes` at the beginning of the episode."""
    place = (str(key), key.stratum, key.world, key.repeat, seed)
    told = (to_json(world.facts), to_json(world.labels), to_json(labels))
    return *place, world.id, world.base, *told, horizon


def turn_row(key: EpisodeKey, turn: Turn) -> tuple[Any, ...]:
    """A row of `turns`."""
    state, decision = turn.state, turn.decision
    actions = turn.observation.actions
    return (
        str(key),
        turn.index,
        turn.observation.text,
        None if actions is None else _listed(tuple(actions)),
        None if state is None else to_json(state.facts),
        None if state is None or state.index is None else int(state.index),
        None if turn.optimal is None else _listed(tuple(turn.optimal)),
        None if turn.value is None else float(turn.value),
        decision.status,
        decision.action,
        decision.detail,
        decision.completion.request if decision.completion else None,
        float(turn.reward),
        int(turn.terminated),
        int(turn.truncated),
        None if turn.success is None else float(turn.success),
        to_json(decision.probabilities) if decision.probabilities else None,
    )


def call_row(scope: str, turn: int | None, completion: Completion) -> tuple[Any, ...]:
    """A row of `calls`."""
    text = (completion.text, completion.reasoning, completion.finish)
    tokens = (_pack(completion.prompt_tokens), _pack(completion.tokens), to_json(completion.marks))
    asked = scope, completion.request, completion.model, turn
    changes = to_json([each.identity for each in completion.interventions])
    told = completion.n_prompt, completion.n_completion, completion.answered_by
    prompt = to_json([[each.role, each.content] for each in completion.prompt])
    return *asked, *text, *tokens, *told, changes, int(completion.cached), prompt, completion.seconds


def intervention_row(each: Intervention) -> tuple[Any, ...]:
    """A row of `interventions`."""
    vector = each.vector.astype("<f4")
    return each.identity, each.layer, each.mark, each.kind, to_json(vector.shape), vector.tobytes()


def read_intervention(row: Row) -> Intervention:
    """The intervention in a row of `interventions`."""
    vector = np.frombuffer(row["vector"], dtype="<f4").reshape(json.loads(row["shape"]))
    return Intervention(layer=row["layer"], mark=row["mark"], kind=row["kind"], vector=vector)


def read_completion(row: Row, interventions: tuple[Intervention, ...]) -> Completion:
    """The completion in a row of `calls`, with the interventions that the row names."""
    return Completion(
        text=row["text"],
        reasoning=row["reasoning"],
        finish=row["finish"],
        prompt_tokens=_unpack(row["prompt_tokens"]),
        tokens=_unpack(row["tokens"]),
        marks={name: tuple(places) for name, places in json.loads(row["marks"]).items()},
        n_prompt=row["n_prompt"],
        n_completion=row["n_completion"],
        answered_by=row["answered_by"],
        request=row["request"],
        model=row["model"],
        interventions=interventions,
        cached=bool(row["cached"]),
        prompt=tuple(Message(role=role, content=content) for role, content in _decode(row["prompt"])),
        seconds=row["seconds"],
    )


def read_turn(row: Row, completion: Completion | None) -> Turn:
    """The turn in a row of `turns`."""
    # By place, which takes half the time of looking so many columns up by name: most of reading a run is this.
    _, index, text, actions, state, state_index, optimal, value, status, action, detail, _, *rest = row
    reward, terminated, truncated, success, probabilities, *_ = rest
    return Turn(
        index=index,
        observation=Observation(text=text, actions=_tuple(actions)),
        decision=_decision(status, action, detail, completion, probabilities),
        reward=reward,
        terminated=bool(terminated),
        truncated=bool(truncated),
        success=success,
        state=None if state is None else State(facts=_decode(state), index=state_index),
        optimal=_tuple(optimal),
        value=value,
    )


def read_trajectory(episode: str, row: Row | None, part: Sequence[Row], calls: Mapping[str, Completion]) -> Trajectory:
    """An episode of the row of `episodes`, those of its turns and the answers that went into them.

    Raises:
        RunFolderError: one of them is missing, or not as it was written.
    """
    asked = (each["completion"] for each in part)
    if row is None or len(part) != row["turns"] or any(each not in calls for each in asked if each is not None):
        raise RunFolderError(f"run.sqlite: turns or answers of episode {episode} are missing; {ADVICE}")
    turns = [read_turn(check("turns", each), calls.get(each["completion"])) for each in part]
    return _trajectory(check("episodes", row), turns)


def _trajectory(row: Row, turns: Sequence[Turn]) -> Trajectory:
    facts, labels = _decode(row["facts"]), _decode(row["world_labels"])
    final = row["final_state"]
    return Trajectory(
        key=EpisodeKey(stratum=row["stratum"], world=row["world"], repeat=row["repeat"]),
        seed=row["seed"],
        world=World(id=row["world_id"], facts=facts, labels=labels, base=row["base"]),
        labels=_decode(row["labels"]),
        horizon=row["horizon"],
        turns=tuple(turns),
        ending=row["ending"],
        failure=row["failure"],
        final_state=None if final is None else State(**_decode(final)),
    )


def _pack(tokens: Sequence[int]) -> bytes:
    return np.asarray(tokens, dtype="<i4").tobytes()


def _unpack(blob: bytes) -> tuple[int, ...]:
    return tuple(np.frombuffer(blob, dtype="<i4").tolist())


@lru_cache(maxsize=4096)
def _acted(action: str) -> Decision:
    """Of the same few actions without completions."""
    return Decision.act(action)


def _decision(
    status: Status, action: str | None, detail: str, completion: Completion | None, told: str | None
) -> Decision:
    if action is not None and not detail and completion is None and told is None:
        return _acted(action)
    probabilities = {} if told is None else _decode(told)
    return Decision(status=status, action=action, detail=detail, completion=completion, probabilities=probabilities)


# The same few lists of actions stand in most rows.
@lru_cache(maxsize=4096)
def _listed(actions: tuple[str, ...]) -> str:
    return to_json(actions)


@lru_cache(maxsize=4096)
def _tuple(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(json.loads(text))
