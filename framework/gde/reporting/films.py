"""Every episode as a film that the page's player shows, packed into one block of data."""

import json
from base64 import b64encode
from dataclasses import dataclass, replace
from gzip import compress
from typing import Any

from gde.data.evidence import Evidence
from gde.reporting.episodes import MARKED, EpisodeView, TurnView, keys_of, legend_of, views
from gde.reporting.pictures import Keys

MOST = 400
"""Episodes in a page: of a larger run every k-th is there, and the page says so."""
ROOM = 32_000_000
"""Characters before packing; maps repeat themselves and pack to a twentieth."""


@dataclass(frozen=True, kw_only=True)
class Films:
    """What the player is given."""

    packed: str
    """Base64 of gzipped JSON: a list of episodes."""
    marks: tuple[str, ...]
    """What some of them can be found by."""
    legend: Keys
    """What is to be seen in the pictures of all of them."""
    n_shown: int
    n_episodes: int


def films(evidence: Evidence, most: int = MOST, room: int = ROOM) -> Films | None:
    """The episodes of a run, of a large one in even steps from the first on; None where none has a turn.

    Args:
        evidence: the run, of which no more episodes are read than are shown.
        most: episodes shown.
        room: characters that they may take before packing; those that come after it are left out.
    """
    n_episodes = len(evidence.trajectories)
    told, keys, marks = list[str](), dict[str, str](), set[str]()
    for view in views(spread(evidence, most).trajectories, evidence):
        film = _film(view)
        room -= len(film)
        if told and room < 0:
            break
        told.append(film)
        keys |= keys_of(view)
        marks |= {*view.marks}
    if not told:
        return None
    # Without a time stamp, equal runs give equal pages.
    packed = compress(f"[{','.join(told)}]".encode(), mtime=0)
    return Films(
        packed=b64encode(packed).decode(),
        marks=tuple(mark for mark in MARKED if mark in marks),
        legend=legend_of(keys),
        n_shown=len(told),
        n_episodes=n_episodes,
    )


def spread(evidence: Evidence, most: int = MOST) -> Evidence:
    """The same with the episodes that a page shows: of a large run every k-th from the first on, and only they are
    read."""
    step = max(1, -(-len(evidence.trajectories) // most))
    return evidence if step == 1 else replace(evidence, trajectories=evidence.trajectories[::step])


def _film(view: EpisodeView) -> str:
    """An episode as JSON. Pictures are markup that this package made; all else is text, and is shown as such."""
    film = {
        "key": view.key,
        "labels": dict(view.labels),
        "task": view.task,
        "outcome": view.outcome,
        "marks": list(view.marks),
        "turns": [_frame(turn) for turn in view.turns],
        "hidden": view.n_hidden,
    }
    return json.dumps(film, ensure_ascii=False)


def _frame(turn: TurnView) -> dict[str, Any]:
    pictures = turn.pictures
    frame = {
        "truth": pictures.truth,
        "drawn": pictures.text if pictures.text != turn.shown else "",
        "truthNote": pictures.truth_note,
        "decoded": pictures.decoded,
        "decodedNote": pictures.decoded_note,
        "shown": turn.shown,
        "sent": turn.prompt,
        "move": turn.move,
        "verdict": turn.verdict,
        "best": turn.best,
        "odds": turn.odds,
        "thought": turn.reasoning,
        "said": turn.said,
        "facts": turn.facts,
    }
    return {name: value for name, value in frame.items() if value}
