"""Two runs in one player: the worlds in which one did better, both ways side by side."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from gde.comparisons.comparing import compare
from gde.comparisons.comparison import Comparison
from gde.comparisons.worlds import WorldOfBoth, WorldsOfBoth
from gde.data.episode_table import heads_of
from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.reporting.wording import inline, plural, quantity
from gde.request.catalogue import Catalogue
from gde.stages.evidence import load_evidence
from gde_plugins.pages.episodes import Films, film_of, pack

MOST = 20
"""Worlds that are shown of those in which A is better, and of the others."""
PARTED = "they part here"
"""The verdict on the first turn in which the two move differently."""
TEXTS = ("thought", "said")
"""What both say is shown one beneath the other."""


def both_ways(found: Comparison, catalogue: Catalogue | None = None) -> Films | None:
    """The worlds of two runs that differ in their first headline, as films of both.

    None where more runs or fewer were compared, where no world differs, and where the
    runs have no headline in common.
    """
    if len(found.compared) != 1 or not found.ranking or not found.ranking[0].number:
        return None
    a, b = found.pair(found.compared[0])
    measured = found.ranking[0].number.name
    try:
        compared = compare(found.runs[a], found.runs[b], catalogue, episodes=measured)
    except GdeError:
        # A headline of results that no metric of both runs gives.
        return None
    worlds = compared.worlds
    assert worlds
    shown = [*_first(worlds, "a"), *_first(worlds, "b")]
    ways_a = _ways(found.runs[a], [one.episodes_a[0] for one in shown], catalogue)
    ways_b = _ways(found.runs[b], [one.episodes_b[0] for one in shown], catalogue)

    keys: dict[str, str] = {}
    films = []
    for one in shown:
        of_a = film_of(ways_a[one.episodes_a[0]], keys)
        of_b = film_of(ways_b[one.episodes_b[0]], keys)
        if of_a["turns"] and of_b["turns"]:
            films.append(_film(one, worlds, (a, b), (of_a, of_b)))

    def intro(n_shown: int) -> str:
        n_differing = plural(len(worlds.worlds), "world")
        return (
            f"{n_shown} of {n_differing} in which the runs differ in {inline(worlds.title)}, "
            f"the largest differences first; {plural(worlds.equal, 'world')} equal."
        )

    return pack(films, (_better(a), _better(b)), keys, intro)


def _first(worlds: WorldsOfBoth, better: str) -> Sequence[WorldOfBoth]:
    return [one for one in worlds.worlds if one.better == better][:MOST]


def _ways(
    run: Path, wanted: Iterable[str], catalogue: Catalogue | None
) -> Mapping[str, Trajectory]:
    """The episodes with these keys; no other is read."""
    episodes = load_evidence(run, catalogue).trajectories
    places = {head.episode: i for i, head in enumerate(heads_of(episodes))}
    return {key: episodes[places[key]] for key in wanted}


def _better(name: str) -> str:
    return f"{name} is better"


def _film(
    one: WorldOfBoth,
    worlds: WorldsOfBoth,
    names: tuple[str, str],
    films: tuple[Mapping[str, Any], Mapping[str, Any]],
) -> dict[str, Any]:
    """A world as the player's script reads it."""
    a, b = names
    of_a, of_b = films
    turns = []
    has_parted = False
    last = of_a["turns"][-1], of_b["turns"][-1]
    for moved in zip_longest(of_a["turns"], of_b["turns"]):
        frame = _frame(names, moved, last)
        moves = [each["move"] if each else "" for each in moved]
        if not has_parted and moves[0] != moves[1]:
            frame["verdict"] = PARTED
            has_parted = True
        turns.append(frame)
    values = f"{a} {quantity(one.a, worlds.unit)}, {b} {quantity(one.b, worlds.unit)}"
    return {
        **of_a,
        "key": " and ".join(dict.fromkeys((of_a["key"], of_b["key"]))),
        "sign": values,
        "outcome": f"{a} {of_a['outcome']}; {b} {of_b['outcome']}",
        "marks": [_better(a if one.better == "a" else b)],
        "turns": turns,
    }


def _frame(
    names: tuple[str, str],
    moved: tuple[Mapping[str, str] | None, Mapping[str, str] | None],
    last: tuple[Mapping[str, str], Mapping[str, str]],
) -> dict[str, str]:
    """A turn of both; a way that has ended stays at its last turn."""
    of_a, of_b = (own or end for own, end in zip(moved, last, strict=True))
    said = [_moved(name, own) for name, own in zip(names, moved, strict=True)]
    frame = {
        "move": "; ".join(said),
        "truth": of_a.get("truth", ""),
        "truth_title": names[0],
        "truth_note": of_a.get("truth_note", ""),
        "drawn": of_a.get("drawn", ""),
        "decoded": of_b.get("truth", ""),
        "decoded_note": "; ".join(filter(None, (names[1], of_b.get("truth_note", "")))),
        "decoded_drawn": of_b.get("drawn", ""),
        "best": of_a.get("best", "") if of_a.get("best") == of_b.get("best") else "",
    }
    for text in TEXTS:
        told = [
            f"{name}:\n{own[text]}"
            for name, own in zip(names, moved, strict=True)
            if own and text in own
        ]
        frame[text] = "\n\n".join(told)
    return {name: value for name, value in frame.items() if value}


def _moved(name: str, frame: Mapping[str, str] | None) -> str:
    if frame is None:
        return f"{name} has ended"
    verdict = frame.get("verdict", "")
    return f"{name} {frame['move']}" + (f" ({verdict})" if verdict else "")
