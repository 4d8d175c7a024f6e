"""Why an episode was not optimal, in words, from its record alone."""

from collections.abc import Iterator

from gde.data.trajectory import Trajectory


def why(episode: Trajectory) -> tuple[str, int]:
    """The first thing that went wrong, and its turn from 1; "" and 1 for nothing.

    An answer that could not be read; a move that changed nothing (e.g. against a wall),
    undid the one before, or led back to a state of before; or one that was no optimal
    one of its state: a longer way.
    """
    for turn, what in _slips(episode):
        return what, turn + 1
    if episode.succeeded:
        return "", 1
    return "ran out of turns" if episode.ending == "horizon" else episode.ending, 1


def _slips(episode: Trajectory) -> Iterator[tuple[int, str]]:
    seen: list[object] = []
    turns = episode.turns
    for i, turn in enumerate(turns):
        seen.append(turn.state)
        after = turns[i + 1].state if i + 1 < len(turns) else None
        action = turn.decision.action
        if action is None:
            yield i, f"unusable answer ({turn.decision.status.replace('_', ' ')})"
        elif turn.optimal is None or action in turn.optimal:
            continue
        elif after is None or after not in seen:
            yield i, f"longer way: {action}"
        elif after == turn.state:
            yield i, f"changed nothing: {action}"
        elif i and after == seen[i - 1]:
            yield i, f"turned back: {action}"
        else:
            yield i, f"back where it was: {action}"
