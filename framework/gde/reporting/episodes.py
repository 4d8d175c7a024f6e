"""A few episodes step by step: what was true, what was decoded, what was done."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from gde.reporting.examples import examples
from gde.reporting.pictures import MARKS, Keys, decoded_picture, decoded_places, legend, true_picture
from gde.reporting.wording import number, quantity

MAX_TURNS = 12
"""Of an episode that is shown without the player."""
MAX_FRAMES = 200
"""Of an episode in the player."""
MAX_CHARACTERS = 420
"""Of reasoning shown a turn."""
MAX_ODDS = 8
"""Actions whose probability is told."""
MAX_TEXT = 4_000
"""Characters of a text shown in full."""


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
    odds: str
    """How probable the agent says that each action was, the likeliest first."""
    reasoning: str
    shown: str
    """What the agent was shown."""
    prompt: str
    """All that its language model was sent, where that is more than it was shown."""
    said: str
    """Its answer in its own words."""
    facts: str
    """Reward, tokens, time."""


@dataclass(frozen=True, kw_only=True)
class EpisodeView:
    """One episode as the page shows it."""

    why: str
    """Why this one was chosen; empty for one among all."""
    key: str
    labels: Labels
    task: str
    """What was asked for."""
    outcome: str
    marks: tuple[str, ...]
    """What it can be found by: of `MARKED`."""
    turns: tuple[TurnView, ...]
    n_hidden: int


UNUSABLE_TURN, STRAY_TURN = "unusable", "not optimal"
MARKED = MISSED, UNUSABLE, STRAYED, DECODED = "missed", "unusable answers", "not optimal", "decoded"


def episode_views(evidence: Evidence) -> tuple[EpisodeView, ...]:
    """The first success, the first miss and the longest episode, where possible of worlds held out from probing."""
    maps = _maps(main_report(evidence.probe_reports))
    held_out = {episode for episode, _ in maps.by_turn}
    return tuple(
        _view(why, trajectory, maps, MAX_TURNS, MAX_CHARACTERS)
        for why, trajectory in examples(evidence.trajectories, held_out)
    )


def views(trajectories: Iterable[Trajectory], evidence: Evidence) -> Iterator[EpisodeView]:
    """Those of the episodes that have turns, made as they are asked for, beside what the run's probe decoded."""
    maps = _maps(main_report(evidence.probe_reports))
    return (_view("", one, maps, MAX_FRAMES, MAX_TEXT) for one in trajectories if one.turns)


def keys_of(episode: EpisodeView) -> Keys:
    """What is to be seen in the pictures of an episode."""
    keys: dict[str, str] = {}
    for turn in episode.turns:
        keys = {**turn.pictures.keys, **keys}
    return keys


def legend_of(keys: Keys) -> Keys:
    """The same, with the marks last."""
    order = [*(one for one in keys if one not in MARKS), *(one for one in MARKS if one in keys)]
    return {meaning: keys[meaning] for meaning in order}


def _maps(report: ProbeReport | None) -> DecodedMaps:
    if report is None or report.decoded.ndim != 4 or report.decoded.shape[-1] != len(report.classes):
        return DecodedMaps()
    return DecodedMaps(classes=report.classes, by_turn=dict(zip(report.rows, report.decoded, strict=True)))


def _view(why: str, trajectory: Trajectory, maps: DecodedMaps, most: int, characters: int) -> EpisodeView:
    n_turns = len(trajectory.turns)
    turns = tuple(_turn(trajectory, turn, maps, characters) for turn in trajectory.turns[:most])
    return EpisodeView(
        why=why,
        key=str(trajectory.key),
        labels=trajectory.labels,
        task=shorten(trajectory.world.objective, MAX_CHARACTERS, placeholder=" \u2026"),
        outcome=f"{_end(trajectory)} after {n_turns} of at most {trajectory.horizon} turns",
        marks=tuple(_marks(trajectory, turns)),
        turns=turns,
        n_hidden=max(0, n_turns - most),
    )


def _end(trajectory: Trajectory) -> str:
    return "reached the goal" if trajectory.succeeded else f"did not reach the goal ({trajectory.ending})"


def _marks(trajectory: Trajectory, turns: Sequence[TurnView]) -> Iterator[str]:
    verdicts = {turn.verdict for turn in turns}
    found = {
        MISSED: not trajectory.succeeded,
        UNUSABLE: UNUSABLE_TURN in verdicts,
        STRAYED: STRAY_TURN in verdicts,
        DECODED: any(turn.pictures.decoded for turn in turns),
    }
    return (mark for mark in MARKED if found[mark])


def _turn(trajectory: Trajectory, turn: Turn, maps: DecodedMaps, characters: int) -> TurnView:
    decision, completion = turn.decision, turn.decision.completion
    return TurnView(
        number=turn.index + 1,
        pictures=_pictures(trajectory, turn, maps),
        move=decision.action or f"none, {decision.status}: {shorten(decision.detail, MAX_CHARACTERS)}",
        verdict=_verdict(turn),
        best=", ".join(turn.optimal or ()),
        odds=_odds(decision.probabilities),
        reasoning=shorten((completion and completion.reasoning) or "", characters, placeholder=" \u2026"),
        shown=_cut(turn.observation.text),
        prompt=_cut(_prompt(turn)),
        said=_cut(completion.text if completion else ""),
        facts=_facts(turn),
    )


def _odds(probabilities: Mapping[str, float]) -> str:
    likeliest = sorted(probabilities.items(), key=lambda one: -one[1])
    return ", ".join(f"{action} {quantity(p, 'share', 0)}" for action, p in likeliest[:MAX_ODDS])


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}\u2026 ({len(text) - MAX_TEXT} more characters)"


def _facts(turn: Turn) -> str:
    """Reward, value, tokens and time, as far as they are known."""
    completion = turn.decision.completion
    told = [f"reward {number(turn.reward, '')}"]
    told += [f"worth {number(turn.value, '')} under optimal play"] if turn.value is not None else []
    told += [f"{completion.n_prompt} + {completion.n_completion} tokens"] if completion else []
    told += [f"{number(completion.seconds, 's')} s"] if completion and completion.seconds is not None else []
    return ", ".join(told)


def _prompt(turn: Turn) -> str:
    """The messages, each under the name of its role."""
    completion = turn.decision.completion
    sent = completion.prompt if completion else ()
    if [each.content for each in sent] == [turn.observation.text]:
        return ""
    return "\n\n".join(f"{each.role}:\n{each.content}" for each in sent)


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
        return UNUSABLE_TURN
    if turn.optimal is None:
        return ""
    return "optimal" if turn.decision.action in turn.optimal else STRAY_TURN
