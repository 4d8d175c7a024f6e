"""Episodes step by step: the true map, the decoded map, the move."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from textwrap import shorten

import numpy as np
from numpy.typing import NDArray

from gde.data.cell_map import CellMap, Position, decoded_classes
from gde.data.evidence import Evidence
from gde.data.json import Labels
from gde.data.probe import ProbeReport
from gde.data.trajectory import Trajectory, Turn
from gde.data.view import moves, view_of
from gde.reporting.claim import main_report
from gde.reporting.figures.pictures import (
    MARKS,
    Keys,
    decoded_picture,
    decoded_places,
    legend,
    true_picture,
)
from gde.reporting.wording import number, plural, quantity

SUCCESS = "First success"
MISS = "First failure to reach the goal"
LONGEST = "Longest of the others"
MAX_TURNS = 12
"""Turns of an episode shown without the player."""
MAX_FRAMES = 200
"""Turns of an episode in the player."""
MAX_CHARACTERS = 420
"""Characters of reasoning shown for a turn without the player."""
MAX_ODDS = 8
"""Actions whose probability is shown."""
MAX_TEXT = 4_000
"""Characters of a text in the player."""
CUT = " \u2026"
# Verdicts on a turn.
OPTIMAL_TURN = "optimal"
UNUSABLE_TURN = "unusable"
STRAY_TURN = "not optimal"

MISSED = "goal not reached"
UNUSABLE = "unusable answers"
STRAYED = "not optimal"
DECODED = "decoded"
MARKED = (MISSED, UNUSABLE, STRAYED, DECODED)
"""What episodes can be filtered by."""


@dataclass(frozen=True, kw_only=True)
class DecodedMaps:
    """The maps that the report's probe decoded; empty where it decodes none."""

    classes: tuple[str, ...] = ()
    by_turn: Mapping[tuple[str, int], NDArray[np.float32]] = field(default_factory=dict)
    """(episode key, turn index) to (size, size, C) probabilities."""


@dataclass(frozen=True, kw_only=True)
class TurnPictures:
    """The pictures of a turn; empty texts where there is nothing to draw."""

    truth: str = ""
    """SVG."""
    truth_note: str = ""
    """Notes of things, or why there is no map."""
    text: str
    """Shown instead of a map."""
    decoded: str = ""
    """SVG."""
    decoded_note: str = ""
    """The errors of the decoded map, or why there is none."""
    keys: Keys = field(default_factory=dict)
    """The legend of the pictures."""


@dataclass(frozen=True, kw_only=True)
class TurnView:
    """One turn as the page shows it."""

    number: int
    pictures: TurnPictures
    move: str
    verdict: str
    """"optimal", "not optimal", "unusable", or "" where no optimum is known."""
    best: str
    odds: str
    """The agent's own probabilities of actions, the likeliest first."""
    reasoning: str
    shown: str
    """What the agent was shown."""
    prompt: str
    """The messages sent to its language model, where they differ from what the agent
    was shown.
    """
    said: str
    """Its answer in its own words."""
    facts: str
    """Reward, tokens, time."""


@dataclass(frozen=True, kw_only=True)
class EpisodeView:
    """One episode as the page shows it."""

    why: str
    """Why this one was chosen; empty in the player."""
    key: str
    labels: Labels
    task: str
    outcome: str
    marks: tuple[str, ...]
    """The filters that find it, of `MARKED`."""
    turns: tuple[TurnView, ...]
    n_hidden: int


def episode_views(evidence: Evidence) -> tuple[EpisodeView, ...]:
    """The first success, the first failure and the longest other episode, where
    possible of held-out worlds.
    """
    maps = _decoded_maps(main_report(evidence.probe_reports))
    held_out = {episode for episode, _ in maps.by_turn}
    chosen = examples(evidence.trajectories, held_out)

    shown = []
    for why, trajectory in chosen.items():
        shown.append(_view(why, trajectory, maps, MAX_TURNS, MAX_CHARACTERS))
    return tuple(shown)


def examples(
    trajectories: Iterable[Trajectory], held_out: Set[str]
) -> Mapping[str, Trajectory]:
    """Choose the example episodes by rule, never by their looks.

    Args:
        trajectories: iterated over twice at most; no more than three are held at a
        time. held_out: keys of the episodes held out from probing. Others are chosen
        only where none of these can be.
    """
    found: Mapping[str, Trajectory] = {}
    if held_out:
        found = _examples(one for one in trajectories if str(one.key) in held_out)
    if not found:
        found = _examples(trajectories)
    return {why: found[why] for why in (SUCCESS, MISS, LONGEST) if why in found}


def _examples(trajectories: Iterable[Trajectory]) -> Mapping[str, Trajectory]:
    found: dict[str, Trajectory] = {}
    for one in trajectories:
        if one.ending == "failed" or not one.turns:
            continue
        first = SUCCESS if one.succeeded else MISS
        if first not in found:
            found[first] = one
        elif LONGEST not in found or len(one.turns) > len(found[LONGEST].turns):
            found[LONGEST] = one
    return found


def views(
    trajectories: Iterable[Trajectory], evidence: Evidence
) -> Iterator[EpisodeView]:
    """The episodes that have turns, one at a time, beside what the run's probe
    decoded.
    """
    maps = _decoded_maps(main_report(evidence.probe_reports))
    for one in trajectories:
        if one.turns:
            yield _view("", one, maps, MAX_FRAMES, MAX_TEXT)


def keys_of(episode: EpisodeView) -> Keys:
    """The legend of the pictures of an episode."""
    keys: dict[str, str] = {}
    for turn in episode.turns:
        # Where two turns explain the same meaning, the first picture stays.
        keys = {**turn.pictures.keys, **keys}
    return keys


def legend_of(keys: Keys) -> Keys:
    """The legend with the marks last."""
    order = [one for one in keys if one not in MARKS]
    order += [one for one in MARKS if one in keys]
    return {meaning: keys[meaning] for meaning in order}


def _decoded_maps(report: ProbeReport | None) -> DecodedMaps:
    # Only (rows, height, width, classes) is a map. Other probes decode numbers.
    if report is None or report.decoded.ndim != 4:
        return DecodedMaps()
    if report.decoded.shape[-1] != len(report.classes):
        return DecodedMaps()
    by_turn = dict(zip(report.rows, report.decoded, strict=True))
    return DecodedMaps(classes=report.classes, by_turn=by_turn)


def _view(
    why: str,
    trajectory: Trajectory,
    maps: DecodedMaps,
    most_turns: int,
    characters: int,
) -> EpisodeView:
    n_turns = len(trajectory.turns)
    turns = []
    for turn in trajectory.turns[:most_turns]:
        turns.append(_turn(trajectory, turn, maps, characters))

    end = "reached the goal"
    if not trajectory.succeeded:
        end = f"did not reach the goal ({trajectory.ending})"
    horizon = plural(trajectory.horizon, "turn")
    return EpisodeView(
        why=why,
        key=str(trajectory.key),
        labels=trajectory.labels,
        task=shorten(trajectory.world.objective, MAX_CHARACTERS, placeholder=CUT),
        outcome=f"{end} after {n_turns} of at most {horizon}",
        marks=_marks(trajectory, turns),
        turns=tuple(turns),
        n_hidden=max(0, n_turns - most_turns),
    )


def _marks(trajectory: Trajectory, turns: Sequence[TurnView]) -> tuple[str, ...]:
    verdicts = {turn.verdict for turn in turns}
    marks = []
    if not trajectory.succeeded:
        marks.append(MISSED)
    if UNUSABLE_TURN in verdicts:
        marks.append(UNUSABLE)
    if STRAY_TURN in verdicts:
        marks.append(STRAYED)
    if any(turn.pictures.decoded for turn in turns):
        marks.append(DECODED)
    return tuple(marks)


def _turn(
    trajectory: Trajectory,
    turn: Turn,
    maps: DecodedMaps,
    characters: int,
) -> TurnView:
    decision = turn.decision
    move = decision.action
    if not move:
        detail = shorten(decision.detail, MAX_CHARACTERS)
        move = f"none, {decision.status}: {detail}"

    # Agents that are no language models have no completion.
    completion = decision.completion
    reasoning = ""
    said = ""
    if completion:
        reasoning = completion.reasoning or ""
        said = completion.text

    return TurnView(
        number=turn.index + 1,
        pictures=_pictures(trajectory, turn, maps),
        move=move,
        verdict=_verdict(turn),
        best=", ".join(turn.optimal or ()),
        odds=_odds(decision.probabilities),
        reasoning=shorten(reasoning, characters, placeholder=CUT),
        shown=_cut(turn.observation.text),
        prompt=_cut(_prompt(turn)),
        said=_cut(said),
        facts=_facts(turn),
    )


def _verdict(turn: Turn) -> str:
    if turn.decision.action is None:
        return UNUSABLE_TURN
    if turn.optimal is None:
        return ""
    if turn.decision.action in turn.optimal:
        return OPTIMAL_TURN
    return STRAY_TURN


def _odds(probabilities: Mapping[str, float]) -> str:
    likeliest = sorted(probabilities.items(), key=lambda item: -item[1])
    odds = []
    for action, p in likeliest[:MAX_ODDS]:
        odds.append(f"{action} {quantity(p, 'share', 0)}")
    return ", ".join(odds)


def _cut(text: str) -> str:
    more = len(text) - MAX_TEXT
    if more <= 0:
        return text
    return f"{text[:MAX_TEXT]}\u2026 ({more} more characters)"


def _facts(turn: Turn) -> str:
    """Reward, value, tokens and time, as far as they are known."""
    facts = [f"reward {number(turn.reward, '')}"]
    if turn.value is not None:
        facts.append(f"optimal value {number(turn.value, '')}")

    completion = turn.decision.completion
    if completion:
        facts.append(f"{completion.n_prompt} + {completion.n_completion} tokens")
        if completion.seconds is not None:
            facts.append(f"{number(completion.seconds, 's')} s")
    return ", ".join(facts)


def _prompt(turn: Turn) -> str:
    """The messages, each under its role; empty where they only repeat the
    observation.
    """
    completion = turn.decision.completion
    if not completion:
        return ""
    contents = [each.content for each in completion.prompt]
    if contents == [turn.observation.text]:
        return ""

    messages = []
    for each in completion.prompt:
        messages.append(f"{each.role}:\n{each.content}")
    return "\n\n".join(messages)


def _pictures(trajectory: Trajectory, turn: Turn, maps: DecodedMaps) -> TurnPictures:
    text = turn.observation.text
    if not turn.state:
        return TurnPictures(text=text)

    # A report must not fail because a plugin recorded a world that is no proper map.
    try:
        view = view_of(trajectory.world, turn.state)
        if view is None:
            return TurnPictures(text=text)
        if not isinstance(view, CellMap):
            return TurnPictures(text=view)
        decoded = maps.by_turn.get((str(trajectory.key), turn.index))
        known = moves(trajectory.world)
        return _maps_drawn(view, known, turn, maps, decoded)
    except ValueError as error:
        return TurnPictures(text=text, truth_note=f"The map cannot be drawn: {error}.")


def _maps_drawn(
    shown: CellMap,
    known: Mapping[str, Position],
    turn: Turn,
    maps: DecodedMaps,
    decoded: NDArray[np.float32] | None,
) -> TurnPictures:
    # Actions that move nothing, e.g. picking up a key, have no arrow.
    optimal = []
    for action in turn.optimal or ():
        if action in known:
            optimal.append(known[action])
    taken = known.get(turn.decision.action or "")

    decoded_drawing = ""
    decoded_note = ""
    if decoded is not None and not _fits(shown, maps, decoded):
        decoded = None
        decoded_note = (
            "No decoded map: the probe decodes smaller maps, or other kinds of cells."
        )
    elif decoded is not None:
        decoded_drawing = decoded_picture(decoded, shown)
        decoded_note = _errors(shown, decoded)
    elif maps.by_turn:
        decoded_note = "No decoded map: the probe was fitted on this turn."

    notes = []
    for thing in shown.things:
        if thing.note:
            notes.append(f"{thing.name}: {thing.note}")

    return TurnPictures(
        truth=true_picture(shown, optimal, taken),
        truth_note="; ".join(notes),
        text="",
        decoded=decoded_drawing,
        decoded_note=decoded_note,
        keys=legend(shown, optimal, taken, decoded),
    )


def _fits(shown: CellMap, maps: DecodedMaps, decoded: NDArray[np.float32]) -> bool:
    """Whether a decoded map covers the true one and has the same classes."""
    height, width, *_ = decoded.shape
    if shown.height > height or shown.width > width:
        return False
    return maps.classes == decoded_classes(shown.kinds)


def _errors(shown: CellMap, decoded: NDArray[np.float32]) -> str:
    """How far off the likeliest places of things are."""
    errors = []
    for thing, (row, column) in decoded_places(decoded, shown):
        true_row, true_column = thing.place
        distance = abs(true_row - row) + abs(true_column - column)
        if distance == 0:
            errors.append(f"{thing.name} in place")
            continue
        is_inside = row < shown.height and column < shown.width
        where = "" if is_inside else ", outside the map"
        errors.append(f"{thing.name} off by {plural(distance, 'cell')}{where}")

    if not errors:
        return "Decoded."
    return f"Decoded {', '.join(errors)}."
