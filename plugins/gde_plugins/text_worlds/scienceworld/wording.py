"""The gold path in the words in which actions are listed.

ScienceWorld understands many names of a thing; its gold paths use others than its lists
of admissible actions ("open door to kitchen" for "open kitchen door"). Two actions are
the same where, taken at the same moment, they are answered in the same words and leave
behind what looks the same. Where ScienceWorld asks back which of several things is
meant, as of five seeds in a jar, the same number answers the same question.
"""

import re
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from statistics import fmean
from typing import Any

FILLING = frozenset({"to", "the", "in", "into", "a", "on"})
"""Words that name nothing."""
TRIES = 16
"""Most ways that are tried for an action of the gold path, those with a question
included.
"""
LIKELY = 6
"""Maximum number of listed actions among them, and of numbers tried for a question."""
FUTILE = 2
"""Maximum number of listed actions if the gold path's action has changed nothing, e.g.
it opened an open door.
"""
RELATED = 0.3
"""Minimum share of words in common, for each thing named, of an action that is tried.
"""
ALSO = 0.8
"""Weight of other names of a thing than the listed one, since several things may share
them.
"""
WAIT = "wait1"
ASKED_BACK = "Ambiguous request"
SYNONYM = re.compile("^examine ")
"""The gold paths' words for "look at"."""
WORD = re.compile(r"\w+")
PLACE = re.compile("( in | on )")
"""Precedes the place of a thing whose name alone is ambiguous."""


@dataclass(frozen=True, kw_only=True)
class Told:
    """An action of the gold path and its result."""

    action: str
    answer: str
    view: Hashable = None
    """The view after it."""
    asked_back: bool = False
    """Whether ScienceWorld asked a question before the answer, settled by a number."""


class Wording:
    """Translates an action into the words of the list."""

    def __init__(self, game: Any, env: Any) -> None:
        """Use a game of `ScienceWorldSimulator` and ScienceWorld's environment."""
        self._game = game
        self._env = env
        self._together = True
        """Whether the game still looks as it does along the gold path."""
        self._tries = 0

        self._forms = []
        for template in env.get_possible_actions_with_IDs():
            self._forms.append(template["action_example"].split("OBJ"))

    def of(self, gold: Iterable[Told]) -> list[str]:
        """Word the gold path from the beginning of the game.

        An action that has no effect becomes a wait.
        """
        way: list[str] = []
        listed = self._game.go_back(way)
        for told in settled(gold):
            action = SYNONYM.sub("look at ", told.action)
            if action in listed and not told.asked_back:
                self._game.act(action)
                way.append(action)
                listed = self._game.listed()
                continue

            found = self._same(told, way, listed)
            way += found
            # The first try of one action has listed and taken nothing that an agent
            # would not have.
            if self._tries == 1 and len(found) == 1:
                listed = self._game.listed()
            else:
                listed = self._game.go_back(way)
        return way

    def _same(self, told: Told, way: Sequence[str], listed: Sequence[str]) -> list[str]:
        """Find the listed action with the same effect, and the number for its question.

        If none looks the same, the game has gone another way. From then on an action
        with the same answer will do, and without one time passes.
        """
        before = self._game.view()
        alike: list[list[str]] = []
        for tried, answer in self._tried(told, way, listed):
            after = self._game.view()
            same_answer = answer == told.answer
            same_view = after == told.view

            # Without a change, the same view alone says nothing about an action.
            tells = same_answer or tried == [WAIT] or after != before
            if self._together and same_view and tells:
                return tried
            if same_answer:
                alike.append(tried)
                if not self._together:
                    break

        self._together = False
        return alike[0] if alike else [WAIT]

    def _tried(
        self, told: Told, way: Sequence[str], listed: Sequence[str]
    ) -> Iterator[tuple[list[str], str]]:
        """Take candidate actions one after the other, and yield each with its answer.

        Waiting comes last.
        """
        likely = self._likely(told.action, told.answer, listed)
        changed_nothing = told.view == self._game.view()
        if changed_nothing:
            likely = likely[:FUTILE]

        ways = deque([action] for action in likely)
        for self._tries in range(1, TRIES):
            if not ways:
                break
            actions = ways.popleft()
            answer = self._taken(actions, way)
            if answer.startswith(ASKED_BACK):
                for number in numbers(answer, told.action)[:LIKELY]:
                    ways.append([*actions, number])
            else:
                yield actions, answer
        yield [WAIT], self._taken([WAIT], way)

    def _taken(self, actions: Sequence[str], way: Sequence[str]) -> str:
        """Return the answer to the last of some actions, taken after those so far."""
        # The first try begins where the way so far has led.
        if self._tries > 1:
            self._game.restart(way)
        answer = ""
        for action in actions:
            answer = self._game.act(action)
        return answer

    def _likely(self, action: str, answer: str, listed: Sequence[str]) -> list[str]:
        """Return listed actions that sound like an action and its answer, likeliest
        first.
        """
        action = SYNONYM.sub("look at ", action)
        told = set(WORD.findall(answer))
        names = _names(self._env.get_all_object_ids_types_referents_LUTJSON())
        scored = []
        for form, each in product(self._forms, listed):
            if not action.startswith(form[0]):
                continue
            readings = []
            for ours, theirs in product(things(action, form), things(each, form)):
                likeness = []
                for our, their in zip(ours, theirs, strict=True):
                    likeness.append(_alike(our, their, names))
                # A form without things is alike by itself, but no more than that.
                readings.append(likeness or [0.0])
            best = max(readings, key=min, default=[0.0])
            if min(best) >= RELATED:
                score = fmean(best) + _share(set(each.split()), told)
                scored.append((-score, each))
        return [each for _, each in sorted(scored)[:LIKELY]]


def _names(things: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return all names of the things that each name may mean."""
    names: dict[str, list[str]] = {}
    for thing in things.values():
        for name in thing["referents"]:
            names.setdefault(name, []).extend(thing["referents"])
    return names


def settled(gold: Iterable[Told]) -> Iterator[Told]:
    """Yield the gold path, with each question and its number as one action.

    It is the action that the question is about.
    """
    asked_about = ""
    for told in gold:
        settles = bool(asked_about) and told.action.isdecimal()
        action = asked_about if settles else told.action
        if told.answer.startswith(ASKED_BACK):
            asked_about = action
        else:
            asked_about = ""
            yield replace(told, action=action, asked_back=settles)


def numbers(question: str, action: str) -> list[str]:
    """List the numbers that a question offers.

    Those that stand for something like the action come first.
    """
    words = set(action.split())
    offered = re.findall(r"^(\d+):(.*)$", question, re.MULTILINE)

    def unlikeness(one: tuple[str, str]) -> float:
        _, meaning = one
        return -_share(set(WORD.findall(meaning)), words)

    return [number for number, _ in sorted(offered, key=unlikeness)]


def things(action: str, literals: Sequence[str]) -> list[list[str]]:
    """List every way to read an action as the words of its form with the names of
    things between them.
    """
    first = literals[0]
    if not action.startswith(first):
        return []
    rest = action[len(first) :]
    if len(literals) == 1:
        return [] if rest else [[]]
    if len(literals) == 2:
        return [[rest]]

    # The name of the first thing may contain the word between the two.
    between = rf" {re.escape(literals[1].strip())}(?:to)? "
    readings = []
    for found in re.finditer(between, rest):
        readings.append([rest[: found.start()], rest[found.end() :]])
    return readings


def _alike(name: str, listed: str, names: Mapping[str, Sequence[str]]) -> float:
    """Return the share of words in common with a thing's most similar name.

    The listed name of a thing counts a little more than its others.
    """
    words = set(name.split()) - FILLING
    best = _share(words, set(listed.split()) - FILLING)
    # "seed in jar on table" may mean a seed, a seed in a jar, or all of it as one name.
    parts = PLACE.split(listed)
    for n in range(0, len(parts), 2):
        for other in names.get("".join(parts[: n + 1]), ()):
            share = _share(words, set(other.split()) - FILLING)
            best = max(best, ALSO * share)
    return best


def _share(some: set[str], others: set[str]) -> float:
    """Return the words in common as a share of all words of both."""
    n_common = len(some & others)
    n_all = len(some | others)
    return n_common / max(1, n_all)
