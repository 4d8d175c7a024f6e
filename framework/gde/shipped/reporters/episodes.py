"""A few episodes step by step: what was true, what was decoded, what was done."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from textwrap import shorten

import numpy as np
from numpy.typing import NDArray

from gde.data.evidence import Evidence
from gde.data.grid import Cell, Grid, Position, moves, objects
from gde.data.probe import ProbeReport
from gde.data.trajectory import Trajectory, Turn
from gde.shipped.reporters.claim import main_report
from gde.shipped.reporters.examples import examples
from gde.shipped.reporters.pictures import decoded_picture, top, true_picture
from gde.shipped.reporters.wording import labels_text

MAX_TURNS = 12
MAX_CHARACTERS = 420
"""Of reasoning shown a turn."""
MARGIN = 1
"""Rows and columns drawn beyond a grid that is smaller than the decoded square."""
Maps = Mapping[tuple[str, int], NDArray[np.float32]]
"""(episode key, turn index) to (size, size, classes) probabilities."""


@dataclass(frozen=True, kw_only=True)
class TurnView:
    """One turn as the page shows it."""

    number: int
    picture: str
    """SVG of the truth; empty where the world is no grid."""
    observation: str
    """Shown instead of a picture."""
    decoded: str
    """SVG of the decoded map, or empty."""
    decoded_note: str
    """What the map gets wrong, or why there is none."""
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
    held_out = {episode for episode, _ in maps}
    return tuple(_view(why, trajectory, maps) for why, trajectory in examples(evidence.trajectories, held_out))


def _maps(report: ProbeReport | None) -> Maps:
    """Decoded maps by turn; none where the probe decodes something else."""
    if report is None or report.decoded.ndim != 4:
        return {}
    _, height, width, classes = report.decoded.shape
    square = height == width and classes == len(Cell)
    return dict(zip(report.rows, report.decoded, strict=True)) if square else {}


def _view(why: str, trajectory: Trajectory, maps: Maps) -> EpisodeView:
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


def _turn(trajectory: Trajectory, turn: Turn, maps: Maps) -> TurnView:
    picture, decoded, note = _pictures(trajectory, turn, maps)
    decision = turn.decision
    reasoning = decision.completion.reasoning if decision.completion else None
    return TurnView(
        number=turn.index + 1,
        picture=picture,
        observation="" if picture else turn.observation.text,
        decoded=decoded,
        decoded_note=note,
        move=decision.action or f"none, {decision.status}: {shorten(decision.detail, MAX_CHARACTERS)}",
        verdict=_verdict(turn),
        best=", ".join(turn.optimal or ()),
        reasoning=shorten(reasoning or "", MAX_CHARACTERS, placeholder=" \u2026"),
    )


def _pictures(trajectory: Trajectory, turn: Turn, maps: Maps) -> tuple[str, str, str]:
    """The truth, what was decoded, and a note on it; empty where there is none."""
    grid, decoded = _grid(trajectory, turn), maps.get((str(trajectory.key), turn.index))
    if grid is None:
        return "", "", ""
    extent = max(len(grid.rows), len(grid.rows[0]))
    truth = partial(_truth, grid, trajectory, turn)
    if decoded is None or extent > len(decoded):
        note = "No decoded map: this turn was not held out from fitting." if maps else ""
        return truth(extent), "", note
    size = min(extent + MARGIN, len(decoded))
    return truth(size), decoded_picture(decoded, grid, size), _errors(grid, decoded)


def _truth(grid: Grid, trajectory: Trajectory, turn: Turn, size: int) -> str:
    known = moves(trajectory.world)
    optimal = [known[action] for action in turn.optimal or () if action in known]
    there = objects(turn.state) if turn.state else {}
    return true_picture(grid, size, optimal, known.get(turn.decision.action or ""), there)


def _grid(trajectory: Trajectory, turn: Turn) -> Grid | None:
    if turn.state is None:
        return None
    try:
        return Grid.from_record(trajectory.world, turn.state)
    except (ValueError, IndexError):
        return None


def _errors(grid: Grid, decoded: NDArray[np.float32]) -> str:
    """How far off the likeliest places of agent and goal are."""
    agent = _apart(grid.agent, top(decoded, Cell.AGENT))
    goal = _apart(grid.goal, top(decoded, Cell.GOAL))
    return f"Decoded agent {agent}, goal {goal}."


def _apart(true: Position, decoded: Position) -> str:
    cells = abs(true[0] - decoded[0]) + abs(true[1] - decoded[1])
    return "in place" if cells == 0 else f"{cells} cell{'s' if cells > 1 else ''} off"


def _verdict(turn: Turn) -> str:
    if turn.decision.action is None:
        return "unusable"
    if turn.optimal is None:
        return ""
    return "optimal" if turn.decision.action in turn.optimal else "not optimal"
