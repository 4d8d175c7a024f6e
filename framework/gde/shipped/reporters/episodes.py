"""A few episodes step by step: what was true, what was decoded, what was done."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import shorten

import numpy as np
from numpy.typing import NDArray

from gde.data.cell_map import CellMap, Position, decoded_classes
from gde.data.evidence import Evidence
from gde.data.probe import ProbeReport
from gde.data.trajectory import Trajectory, Turn
from gde.data.view import moves, view_of
from gde.shipped.reporters.claim import main_report
from gde.shipped.reporters.examples import examples
from gde.shipped.reporters.pictures import MARKS, Keys, decoded_picture, decoded_places, legend, true_picture
from gde.shipped.reporters.wording import labels_text

MAX_TURNS = 12
MAX_CHARACTERS = 420
"""Of reasoning shown a turn."""


@dataclass(frozen=True, kw_only=True)
class DecodedMaps:
    """What the report's probe decoded, where it decodes maps."""

    classes: tuple[str, ...] = ()
    by_turn: Mapping[tuple[str, int], NDArray[np.float32]] = field(default_factory=dict)
    """(episode key, turn index) to (size, size, C) probabilities."""


@dataclass(frozen=True, kw_only=True)
class TurnPictures:
    """A turn as it is drawn; empty texts where there is nothing to draw."""

    truth: str = ""
    """SVG."""
    truth_note: str = ""
    """What cannot be drawn, or why nothing is."""
    text: str
    """Shown instead of a picture."""
    decoded: str = ""
    """SVG."""
    decoded_note: str = ""
    """What the decoded map gets wrong, or why there is none."""
    keys: Keys = field(default_factory=dict)
    """What is to be seen in the pictures."""


@dataclass(frozen=True, kw_only=True)
class TurnView:
    """One turn as the page shows it."""

    number: int
    pictures: TurnPictures
    move: str
    verdict: str
    """"optimal", "not optimal", "unusable", or "" where no optimum is known."""
    best: str
    reasoning: str


@dataclass(frozen=True, kw_only=True)
class EpisodeView:
    """One episode as the page shows it."""

    why: str
    """Why this one was chosen."""
    key: str
    labels: str
    outcome: str
    turns: tuple[TurnView, ...]
    n_hidden: int


def episode_views(evidence: Evidence) -> tuple[EpisodeView, ...]:
    """The first success, the first miss and the longest episode, where possible of worlds held out from probing."""
    maps = _maps(main_report(evidence.probe_reports))
    held_out = {episode for episode, _ in maps.by_turn}
    return tuple(_view(why, trajectory, maps) for why, trajectory in examples(evidence.trajectories, held_out))


def legend_of(episodes: Sequence[EpisodeView]) -> Keys:
    """What is to be seen in the pictures of all these episodes; empty where there are none."""
    keys: dict[str, str] = {}
    for turn in (turn for episode in episodes for turn in episode.turns):
        keys |= {meaning: drawn for meaning, drawn in turn.pictures.keys.items() if meaning not in keys}
    order = [*(one for one in keys if one not in MARKS), *(one for one in MARKS if one in keys)]
    return {meaning: keys[meaning] for meaning in order}


def _maps(report: ProbeReport | None) -> DecodedMaps:
    if report is None or report.decoded.ndim != 4 or report.decoded.shape[-1] != len(report.classes):
        return DecodedMaps()
    return DecodedMaps(classes=report.classes, by_turn=dict(zip(report.rows, report.decoded, strict=True)))


def _view(why: str, trajectory: Trajectory, maps: DecodedMaps) -> EpisodeView:
    n_turns = len(trajectory.turns)
    end = "reached the goal" if trajectory.succeeded else f"did not reach the goal ({trajectory.ending})"
    return EpisodeView(
        why=why,
        key=str(trajectory.key),
        labels=labels_text(trajectory.labels),
        outcome=f"{end} after {n_turns} of at most {trajectory.horizon} turns",
        turns=tuple(_turn(trajectory, turn, maps) for turn in trajectory.turns[:MAX_TURNS]),
        n_hidden=max(0, n_turns - MAX_TURNS),
    )


def _turn(trajectory: Trajectory, turn: Turn, maps: DecodedMaps) -> TurnView:
    decision = turn.decision
    reasoning = decision.completion.reasoning if decision.completion else None
    return TurnView(
        number=turn.index + 1,
        pictures=_pictures(trajectory, turn, maps),
        move=decision.action or f"none, {decision.status}: {shorten(decision.detail, MAX_CHARACTERS)}",
        verdict=_verdict(turn),
        best=", ".join(turn.optimal or ()),
        reasoning=shorten(reasoning or "", MAX_CHARACTERS, placeholder=" \u2026"),
    )


def _pictures(trajectory: Trajectory, turn: Turn, maps: DecodedMaps) -> TurnPictures:
    text = turn.observation.text
    try:
        view = view_of(trajectory.world, turn.state) if turn.state else None
        if not isinstance(view, CellMap):
            return TurnPictures(text=text if view is None else view)
        return _drawn(view, moves(trajectory.world), turn, maps, maps.by_turn.get((str(trajectory.key), turn.index)))
    except ValueError as error:
        return TurnPictures(text=text, truth_note=f"Its map cannot be drawn: {error}.")


def _drawn(
    shown: CellMap, known: Mapping[str, Position], turn: Turn, maps: DecodedMaps, decoded: NDArray[np.float32] | None
) -> TurnPictures:
    optimal = [known[action] for action in turn.optimal or () if action in known]
    taken = known.get(turn.decision.action or "")
    if decoded is not None and not _fits(shown, maps, decoded):
        decoded, lacking = None, "No decoded map: the probe decodes smaller maps, or other kinds of cells."
    else:
        lacking = "No decoded map: this turn was not held out from fitting." if maps.by_turn else ""
    return TurnPictures(
        truth=true_picture(shown, optimal, taken),
        truth_note="; ".join(f"{thing.name}: {thing.note}" for thing in shown.things if thing.note),
        text="",
        decoded="" if decoded is None else decoded_picture(decoded, shown),
        decoded_note=lacking if decoded is None else _errors(shown, decoded),
        keys=legend(shown, optimal, taken, decoded),
    )


def _fits(shown: CellMap, maps: DecodedMaps, decoded: NDArray[np.float32]) -> bool:
    large_enough = shown.height <= decoded.shape[0] and shown.width <= decoded.shape[1]
    return large_enough and maps.classes == decoded_classes(shown.kinds)


def _errors(shown: CellMap, decoded: NDArray[np.float32]) -> str:
    """How far off the likeliest places of things are."""
    found = decoded_places(decoded, shown)
    off = ", ".join(f"{thing.name} {_apart(thing.place, place, shown)}" for thing, place in found)
    return f"Decoded {off}." if off else "Decoded."


def _apart(true: Position, decoded: Position, shown: CellMap) -> str:
    cells = abs(true[0] - decoded[0]) + abs(true[1] - decoded[1])
    where = "" if decoded[0] < shown.height and decoded[1] < shown.width else ", outside the map"
    return "in place" if cells == 0 else f"off by {cells} cell{'s' if cells > 1 else ''}{where}"


def _verdict(turn: Turn) -> str:
    if turn.decision.action is None:
        return "unusable"
    if turn.optimal is None:
        return ""
    return "optimal" if turn.decision.action in turn.optimal else "not optimal"
