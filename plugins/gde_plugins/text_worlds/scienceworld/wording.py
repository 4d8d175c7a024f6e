"""The gold path in the words in which actions are listed.

ScienceWorld understands many names of a thing; its gold paths use others than its lists of admissible actions ("open
door to kitchen" for "open kitchen door"). Two actions are the same where, taken at the same moment, they are answered
in the same words.
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from itertools import chain
from statistics import fmean
from typing import Any

FILLING = frozenset({"to", "the", "in", "into", "a", "on"})
"""Words that name nothing."""
TRIES = 6
"""Listed actions that are tried for one of the gold path."""
RELATED = 0.3
"""Least share of words in common, for each thing named, of an action that is tried."""
WAIT = "wait1"
ASKED_BACK = "Ambiguous request"
SYNONYM = re.compile("^examine ")
"""What the gold paths say for "look at"."""


class Wording:
    """Says an action in the words of the list."""

    def __init__(
        self,
        env: Any,
        admissible: Callable[[], Container[str]],
        act: Callable[[str], str],
        restart: Callable[[Sequence[str]], None],
    ) -> None:
        """Ask ScienceWorld's `env`; `admissible` lists actions, `act` takes one and gives the answer, `restart` begins
        again with some."""
        self._env, self._admissible, self._act, self._restart = env, admissible, act, restart
        templates = env.get_possible_actions_with_IDs()
        self._literals = {each["template_id"]: each["action_example"].split("OBJ") for each in templates}

    def of(self, gold: Sequence[str], answers: Sequence[str]) -> list[str]:
        """The gold path, from the beginning of the game on. Where an action changes nothing any more, time passes."""
        way: list[str] = []
        said: dict[str, str] = {}
        for action, answer in settled(zip(gold, answers, strict=True)):
            listed = self._admissible()
            if action in listed:
                self._act(action)
                way.append(action)
            else:
                again = said.get(action, SYNONYM.sub("look at ", action))
                way.append(self._same(action, answer, way, [again] if again in listed else [], listed))
                said[action] = way[-1]
        return way

    def _same(self, action: str, answer: str, way: Sequence[str], first: Sequence[str], listed: Container[str]) -> str:
        """The listed action that is answered alike, taken, of those to be tried `first` and the likely ones; where none
        is, time passes."""
        for tried in chain(first, self._likely(action, answer, listed)):
            if self._act(tried) == answer:
                return tried
            self._restart(way)
        self._act(WAIT)
        return WAIT

    def _likely(self, action: str, answer: str, listed: Container[str]) -> Iterator[str]:
        """Listed actions that sound like an action and its answer, the likeliest first."""
        action, told = SYNONYM.sub("look at ", action), {*re.findall(r"\w+", answer)}
        likely = [
            (fmean(likeness) + _share({*each.split()}, told), each)
            for likeness, each in self._likeness(action, listed)
            if min(likeness) >= RELATED
        ]
        yield from (each for _, each in sorted(likely, key=lambda pair: (-pair[0], pair[1]))[:TRIES])

    def _likeness(self, action: str, admissible: Container[str]) -> Iterator[tuple[list[float], str]]:
        """Every listed action of the same form, with how much each of its things is called alike, 0 to 1."""
        names = self._env.get_all_object_ids_types_referents_LUTJSON()
        for listed in self._env.get_valid_action_object_combinations_with_templates():
            literals = self._literals[listed["template_id"]]
            known = [names.get(str(thing), {}).get("referents", []) for thing in listed["obj_ids"]]
            readings = [
                [*map(_alike, ours, theirs, known)] or [0.0]
                for ours in things(action, literals)
                for theirs in things(listed["action"], literals)
            ]
            if readings and listed["action"] in admissible:
                yield max(readings, key=min), listed["action"]


def settled(told: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Actions and answers, where one of them is asked back about and a number settles it as one: the action as it was
    said, and what followed. What is listed is never asked back about."""
    said = ""
    for action, answer in told:
        whole = said if said and action.isdecimal() else action
        said = whole if answer.startswith(ASKED_BACK) else ""
        if not said:
            yield whole, answer


def things(action: str, literals: Sequence[str]) -> list[list[str]]:
    """Every way to read an action as the words of its form with the names of things between them."""
    if not action.startswith(literals[0]):
        return []
    rest = action[len(literals[0]) :]
    if len(literals) == 1:
        return [] if rest else [[]]
    if len(literals) == 2:
        return [[rest]]
    return [[rest[: found.start()], rest[found.end() :]] for found in re.finditer(re.escape(literals[1]), rest)]


def _alike(name: str, listed: str, also: Sequence[str]) -> float:
    """Share of words in common with the most similar name of a thing; the listed one counts a little more."""
    words, *others = [{*each.split()} - FILLING for each in (name, listed, *also)]
    shares = [_share(words, each) for each in others]
    return 0.99 * max(shares) + 0.01 * shares[0]


def _share(some: set[str], others: set[str]) -> float:
    """Of all words of both, those in common."""
    return len(some & others) / max(1, len(some | others))
