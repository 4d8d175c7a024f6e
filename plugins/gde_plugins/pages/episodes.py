"""The player's data: every episode turn by turn, packed into one block."""

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from gzip import compress
from math import ceil
from textwrap import shorten
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

from gde.data.arrays import Floats
from gde.data.cell_map import CellMap, decoded_classes
from gde.data.evidence import Evidence
from gde.data.probe import ProbeReport
from gde.data.trajectory import Trajectory, Turn
from gde.data.view import moves, view_of
from gde.reporting.finding import main_report
from gde.reporting.wording import POSITIONS, labels_text, number, plural, quantity
from gde_plugins.pages.figures.pictures import (
    MARKS,
    Keys,
    decoded_picture,
    decoded_places,
    legend,
    true_picture,
)
from gde_plugins.pages.reasons import why
from gde_plugins.pages.tables import Cell, Row, Table, table

MOST = 400
"""Episodes in a page. Of a larger run the page shows every k-th, and says so."""
ROOM = 32_000_000
"""Characters of all episodes before packing, which makes them about twenty times
smaller.
"""
MAX_FRAMES = 200
"""Turns of an episode."""
MAX_TASK = 420
"""Characters of a task, and of the reason why a decision was unusable."""
MAX_ODDS = 8
"""Actions whose probability is shown."""
MAX_TEXT = 4_000
"""Characters of a longer text."""
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
class Still:
    """An episode as print shows it: its map where it went wrong, else at the start."""

    picture: str
    """Markup made by this package."""
    caption: str


Ranked = tuple[bool, int, Still]
"""Whether it reached the goal, less its wrong turns, and the still."""


@dataclass(frozen=True, kw_only=True)
class Films:
    """The data of the player."""

    packed: str
    """Base64 of gzipped JSON: a list of episodes."""
    marks: tuple[str, ...]
    """The filters that find some of them."""
    legend: Keys
    """The legend of all pictures."""
    intro: str
    """Which episodes they are."""
    stills: tuple[Still, ...]
    """The worst, the middle and the best film that is drawn."""


ByTurn = Mapping[tuple[str, int], Floats]
"""(episode key, turn index) to (size, size, C) probabilities."""


@dataclass(frozen=True, kw_only=True)
class DecodedMaps:
    """The maps that the report's probe decoded; empty where it decodes none."""

    classes: tuple[str, ...] = ()
    by_turn: ByTurn = field(default_factory=dict)
    moments: Mapping[str, ByTurn] = field(default_factory=dict)
    """The same by position, if the probe reads several, e.g. the events of a reasoning."""


def films(
    shown: Evidence, n_episodes: int | None = None, room: int = ROOM
) -> Films | None:
    """The episodes of a page as films; None where no episode has a turn.

    Args:
        shown: with the episodes of the page.
        n_episodes: those of the whole run; None where all are shown.
        room: characters of all episodes before packing. Later episodes are left out.
    """
    n_episodes = n_episodes or len(shown.trajectories)
    maps = _decoded_maps(shown.probe_reports)
    keys: dict[str, str] = {}
    played = (
        film_of(trajectory, keys, maps, shown.remarks)
        for trajectory in shown.trajectories
        if trajectory.turns
    )

    def intro(n_shown: int) -> str:
        if n_shown == n_episodes:
            return f"All {n_episodes} episodes."
        return f"{n_shown} of {n_episodes} episodes, evenly spaced; the run folder has all."

    return pack(played, MARKED, keys, intro, room)


def pack(
    played: Iterable[Mapping[str, Any]],
    filters: Sequence[str],
    keys: Mapping[str, str],
    intro: Callable[[int], str],
    room: int = ROOM,
) -> Films | None:
    """Films as the player reads them; None where there are none.

    Args:
        played: of `film_of`. Those for which there is no room are left out.
        filters: marks that films can bear, in their order.
        keys: the legend, complete when the last film is read.
        intro: the number of films to which episodes they are.
        room: characters before packing.
    """
    packed: list[str] = []
    marks: set[str] = set()
    shown: list[Ranked] = []
    for film in played:
        text = json.dumps(film, ensure_ascii=False)
        room -= len(text)
        # The first episode is shown whatever its size, so that the player has something
        # to show.
        if packed and room < 0:
            break
        packed.append(text)
        marks.update(film["marks"])
        shown += _still(film)
    if not packed:
        return None

    # The legend ends with the marks.
    order = [meaning for meaning in keys if meaning not in MARKS]
    order += [meaning for meaning in MARKS if meaning in keys]

    # Without a time stamp, equal runs give equal pages.
    data = compress(f"[{','.join(packed)}]".encode(), mtime=0)
    return Films(
        packed=b64encode(data).decode(),
        marks=tuple(mark for mark in filters if mark in marks),
        legend={meaning: keys[meaning] for meaning in order},
        intro=intro(len(packed)),
        stills=_typical(shown),
    )


def _still(film: Mapping[str, Any]) -> list[Ranked]:
    """A film with its rank, the worst first; empty where it has no picture."""
    wrong = [
        turn
        for turn in film["turns"]
        if turn.get("verdict") in (STRAY_TURN, UNUSABLE_TURN)
    ]
    first = (wrong or film["turns"])[0]
    if "truth" not in first:
        return []
    still = Still(picture=first["truth"], caption=f"{film['key']}: {film['outcome']}.")
    return [(MISSED not in film["marks"], -len(wrong), still)]


def _typical(shown: Sequence[Ranked]) -> tuple[Still, ...]:
    ranked = [still for *_, still in sorted(shown, key=lambda one: one[:2])]
    places = {0, len(ranked) // 2, len(ranked) - 1} if ranked else set()
    return tuple(ranked[place] for place in sorted(places))


def episode_table(evidence: Evidence) -> Table:
    """A row for each episode that a page shows, with a link to its player: failures
    first, then those with the most turns beyond the optimum.
    """
    rows = []
    values: dict[str, set[object]] = {}
    for episode in evidence.trajectories:
        for name, value in episode.labels.items():
            values.setdefault(name, set()).add(value)
    for episode in evidence.trajectories:
        if not episode.turns:
            continue
        labels = {
            name: value
            for name, value in episode.labels.items()
            if len(values[name]) > 1
        }
        key = str(episode.key)
        reason, turn = why(episode)
        n_turns = len(episode.turns)
        strays = sum(_verdict(each) == STRAY_TURN for each in episode.turns)
        cells = (
            Cell(text="reached" if episode.succeeded else MISSED),
            Cell(text=str(n_turns)),
            Cell(text=str(strays)),
            Cell(text=f"turn {turn}, {reason}" if reason else ""),
        )
        link = f"#{urlencode({'episode': key, 'turn': turn})}"
        row = Row(head=labels_text(labels), hint=key, cells=cells, link=link)
        rows.append((episode.succeeded, -strays, -n_turns, row))
    rows.sort(key=lambda each: each[:3])
    columns = ("outcome", "turns", "not optimal", "why")
    return table(columns, [row for *_, row in rows], "")


def spread(evidence: Evidence, most: int = MOST) -> Evidence:
    """The evidence with the episodes that a page shows: of a large run every k-th."""
    n_episodes = len(evidence.trajectories)
    if n_episodes <= most:
        return evidence
    step = ceil(n_episodes / most)
    return replace(evidence, trajectories=evidence.trajectories[::step])


def _decoded_maps(reports: Sequence[ProbeReport]) -> DecodedMaps:
    report = main_report(reports)
    # Only (rows, height, width, classes) is a map. Other probes decode numbers.
    if report is None or report.decoded.shape[3:] != (len(report.classes),):
        return DecodedMaps()
    moments: dict[str, ByTurn] = {}
    for each in reports:
        position = each.fit.position
        if each.rows and each.fit == replace(report.fit, position=position):
            by_turn = dict(zip(each.rows, each.decoded, strict=True))
            moments[POSITIONS.get(position, position)] = by_turn
    return DecodedMaps(
        classes=report.classes,
        by_turn=dict(zip(report.rows, report.decoded, strict=True)),
        moments=moments if len(moments) > 1 else {},
    )


def film_of(
    trajectory: Trajectory,
    keys: dict[str, str],
    maps: DecodedMaps = DecodedMaps(),
    remarks: Mapping[tuple[str, int], str] = MappingProxyType({}),
) -> dict[str, Any]:
    """An episode as the player's script reads it; adds its legend to `keys`.

    Args:
        trajectory: with at least one turn.
        keys: the legend of all pictures: meaning to picture.
        maps: what a probe decoded.
        remarks: of metrics, by episode key and turn index.
    """
    n_turns = len(trajectory.turns)
    frames = []
    for turn in trajectory.turns[:MAX_FRAMES]:
        frame = _frame(trajectory, turn, maps, keys)
        remark = remarks.get((str(trajectory.key), turn.index))
        if remark:
            frame["why"] = shorten(remark, MAX_TASK, placeholder=CUT)
        frames.append(frame)

    end = "reached the goal"
    if not trajectory.succeeded:
        end = f"did not reach the goal ({trajectory.ending})"
    horizon = plural(trajectory.horizon, "turn")
    reason, at = why(trajectory)
    because = f"; turn {at}, {reason}" if reason else ""

    verdicts = {frame.get("verdict") for frame in frames}
    marks = {
        MISSED: not trajectory.succeeded,
        UNUSABLE: UNUSABLE_TURN in verdicts,
        STRAYED: STRAY_TURN in verdicts,
        DECODED: any("decoded" in frame for frame in frames),
    }

    return {
        "key": str(trajectory.key),
        "sign": "\u2713" if trajectory.succeeded else "\u2717",
        "labels": dict(trajectory.labels),
        "task": shorten(trajectory.world.objective, MAX_TASK, placeholder=CUT),
        "outcome": f"{end} after {n_turns} of at most {horizon}{because}",
        "marks": [mark for mark, is_borne in marks.items() if is_borne],
        "turns": frames,
        "hidden": max(0, n_turns - MAX_FRAMES),
    }


def _frame(
    trajectory: Trajectory, turn: Turn, maps: DecodedMaps, keys: dict[str, str]
) -> dict[str, Any]:
    """A turn, without empty fields.

    Pictures are markup made by this package; the player shows all else as text.
    """
    decision = turn.decision
    move = decision.read
    if not move:
        detail = shorten(decision.detail, MAX_TASK)
        move = f"none, {decision.status}: {detail}"

    # Agents that are no language models have no completion.
    completion = decision.completion
    reasoning = ""
    answer = ""
    if completion:
        reasoning = completion.reasoning or ""
        answer = _cut_middle(completion.text)

    frame = {
        **_pictures(trajectory, turn, maps, keys),
        "shown": _cut(turn.observation.text),
        "sent": _cut_middle(_prompt(turn)),
        "move": move,
        "verdict": _verdict(turn),
        "best": ", ".join(turn.optimal or ()),
        "odds": _odds(decision.probabilities),
        "thought": shorten(reasoning, MAX_TEXT, placeholder=CUT),
        "said": answer,
        "read": _mention(answer, decision.read),
        "facts": _facts(turn),
    }
    return {name: value for name, value in frame.items() if value}


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


def _mention(answer: str, read: str) -> str:
    """What was read, as the answer last spells it; empty where other words say it."""
    spelled = rf"(?<!\w){re.escape(read)}(?!\w)"
    *_, last = [None, *re.finditer(spelled, answer, re.IGNORECASE)]
    # The player marks the last place of the text.
    is_last = last is not None and answer.rfind(last[0]) == last.start()
    return last[0] if last and is_last else ""


def _cut(text: str) -> str:
    more = len(text) - MAX_TEXT
    if more <= 0:
        return text
    return f"{text[:MAX_TEXT]}\u2026 ({more} more characters)"


def _cut_middle(text: str) -> str:
    """A conversation without its middle: it begins with the task and ends with now."""
    more = len(text) - MAX_TEXT
    if more <= 0:
        return text
    half = MAX_TEXT // 2
    return f"{text[:half]}\u2026 ({more} more characters) \u2026{text[-half:]}"


def _facts(turn: Turn) -> str:
    """Reward, value, tokens and time, as far as they are known."""
    facts = [f"reward {number(turn.reward, '')}"]
    if turn.out_of_reach:
        facts.append("goal out of reach")
    elif turn.value is not None:
        facts.append(f"optimal value {number(turn.value, '')}")

    completion = turn.decision.completion
    if completion:
        facts.append(f"{completion.n_prompt} + {completion.n_completion} tokens")
        if completion.seconds is not None:
            facts.append(f"{number(completion.seconds, 's')} s")
    return ", ".join(facts)


def _prompt(turn: Turn) -> str:
    """The messages under their roles; empty if they only repeat the observation."""
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


def _pictures(
    trajectory: Trajectory, turn: Turn, maps: DecodedMaps, keys: dict[str, str]
) -> dict[str, Any]:
    """The pictures of a turn with their notes, or the text that stands for them."""
    if not turn.state:
        return {}

    # A report must not fail because a plugin recorded a world that is no proper map.
    try:
        view = view_of(trajectory.world, turn.state)
        if view is None or view == turn.observation.text:
            return {}
        if not isinstance(view, CellMap):
            return {"drawn": view}
        decoded = maps.by_turn.get((str(trajectory.key), turn.index))
        return _maps_drawn(trajectory, view, turn, maps, decoded, keys)
    except ValueError as error:
        return {"truth_note": f"The map cannot be drawn: {error}."}


def _maps_drawn(
    trajectory: Trajectory,
    shown: CellMap,
    turn: Turn,
    maps: DecodedMaps,
    decoded: Floats | None,
    keys: dict[str, str],
) -> dict[str, Any]:
    # Actions that move nothing, e.g. picking up a key, have no arrow.
    known = moves(trajectory.world)
    optimal = [known[action] for action in turn.optimal or () if action in known]
    taken = known.get(turn.decision.action or "")

    pictures: dict[str, Any] = {"truth": true_picture(shown, optimal, taken)}
    # A shape shows what the note says.
    noted = [thing for thing in shown.things if thing.note and not thing.shape]
    notes = [f"{thing.name}: {thing.note}" for thing in noted]
    pictures["truth_note"] = "; ".join(notes)

    if decoded is not None and not _fits(shown, maps, decoded):
        decoded = None
        pictures["decoded_note"] = (
            "No decoded map: the probe decodes smaller maps, or other kinds of cells."
        )
    elif decoded is not None:
        pictures["decoded"] = decoded_picture(decoded, shown)
        pictures["decoded_note"] = _errors(shown, decoded)
        pictures["moments"] = _moments(shown, maps, (str(trajectory.key), turn.index))
    elif maps.by_turn:
        pictures["decoded_note"] = "No decoded map: the probe was fitted on this turn."

    # Where two turns explain the same meaning, the first picture stays.
    for meaning, picture in legend(shown, optimal, taken, decoded, keys).items():
        keys.setdefault(meaning, picture)
    return pictures


def _moments(
    shown: CellMap, maps: DecodedMaps, key: tuple[str, int]
) -> list[dict[str, str]]:
    """The maps of a turn, one for each position, in their order."""
    return [
        {
            "at": at,
            "decoded": decoded_picture(by_turn[key], shown),
            "note": _errors(shown, by_turn[key]),
        }
        for at, by_turn in maps.moments.items()
        if key in by_turn
    ]


def _fits(shown: CellMap, maps: DecodedMaps, decoded: Floats) -> bool:
    """Whether a decoded map covers the true one and has the same classes."""
    height, width, *_ = decoded.shape
    if shown.height > height or shown.width > width:
        return False
    return maps.classes == decoded_classes(shown.kinds)


def _errors(shown: CellMap, decoded: Floats) -> str:
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
