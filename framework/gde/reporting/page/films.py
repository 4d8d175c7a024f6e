"""The episodes that the page's player shows, packed into one block of data."""

import json
from base64 import b64encode
from dataclasses import dataclass, replace
from gzip import compress
from math import ceil
from typing import Any

from gde.data.evidence import Evidence
from gde.reporting.figures.pictures import Keys
from gde.reporting.page.episodes import (
    MARKED,
    EpisodeView,
    TurnView,
    keys_of,
    legend_of,
    views,
)

MOST = 400
"""Episodes in a page. Of a larger run the page shows every k-th, and says so."""
ROOM = 32_000_000
"""Characters of all episodes before packing, which makes them about twenty times
smaller.
"""


@dataclass(frozen=True, kw_only=True)
class Films:
    """The data of the player."""

    packed: str
    """Base64 of gzipped JSON: a list of episodes."""
    marks: tuple[str, ...]
    """The filters that find some of them."""
    legend: Keys
    """The legend of all pictures."""
    n_shown: int
    n_episodes: int


def films(evidence: Evidence, most: int = MOST, room: int = ROOM) -> Films | None:
    """The episodes of a run as films; None where no episode has a turn.

    Args:
        evidence: the run. Only the episodes shown are read.
        most: episodes shown.
        room: characters of all episodes before packing. Later episodes are left out.
    """
    packed: list[str] = []
    keys: dict[str, str] = {}
    marks: set[str] = set()
    shown = spread(evidence, most)
    for view in views(shown.trajectories, evidence):
        film = _film(view)
        room -= len(film)
        # The first episode is shown whatever its size, so that the player has something
        # to show.
        if packed and room < 0:
            break
        packed.append(film)
        keys |= keys_of(view)
        marks.update(view.marks)
    if not packed:
        return None

    # Without a time stamp, equal runs give equal pages.
    data = compress(f"[{','.join(packed)}]".encode(), mtime=0)
    return Films(
        packed=b64encode(data).decode(),
        marks=tuple(mark for mark in MARKED if mark in marks),
        legend=legend_of(keys),
        n_shown=len(packed),
        n_episodes=len(evidence.trajectories),
    )


def spread(evidence: Evidence, most: int = MOST) -> Evidence:
    """The evidence with the episodes that a page shows: of a large run every k-th from
    the first on.
    """
    n_episodes = len(evidence.trajectories)
    if n_episodes <= most:
        return evidence
    step = ceil(n_episodes / most)
    return replace(evidence, trajectories=evidence.trajectories[::step])


def _film(view: EpisodeView) -> str:
    """An episode as JSON. Pictures are markup made by this package; the player shows
    all else as text.
    """
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
    """A turn; fields without content are left out."""
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
