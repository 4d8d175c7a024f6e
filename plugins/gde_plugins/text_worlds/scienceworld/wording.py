"""The gold path in the words in which actions are listed.

ScienceWorld understands many names of a thing; its gold paths use others than its lists of admissible actions ("open
door to kitchen" for "open kitchen door"). Two actions are the same where, taken at the same moment, they are answered
in the same words and leave behind what looks the same. Where ScienceWorld asks back which of several things is meant,
as of five seeds in a jar, the same number answers the same question.
"""

import re
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

FILLING = frozenset({"to", "the", "in", "into", "a", "on"})
"""Words that name nothing."""
TRIES = 16
"""Ways that are tried for an action of the gold path, those that are asked back about included."""
LIKELY = 6
"""Listed actions of them, and numbers for each that is asked back about."""
FUTILE = 2
"""The same where the action of the gold path has changed nothing, like to open a door that is open."""
RELATED = 0.3
"""Least share of words in common, for each thing named, of an action that is tried."""
ALSO = 0.8
"""How much another name of a thing counts than the one that is listed, which may be that of several things."""
WAIT = "wait1"
ASKED_BACK = "Ambiguous request"
SYNONYM = re.compile("^examine ")
"""What the gold paths say for "look at"."""
WORD = re.compile(r"\w+")
PLACE = re.compile("( in | on )")
"""Before the place of a thing, where its name alone would not do."""


@dataclass(frozen=True, kw_only=True)
class Told:
    """An action of the gold path and what came of it."""

    action: str
    answer: str
    view: Hashable = None
    """What is seen after it."""
    asked_back: bool = False
    """Whether it was asked back about before the answer, and settled by a number."""


class Wording:
    """Says an action in the words of the list."""

    def __init__(
        self,
        env: Any,
        act: Callable[[str], str],
        admissible: Callable[[], Sequence[str]],
        view: Callable[[], Hashable],
        restart: Callable[[Sequence[str]], None],
        go_back: Callable[[Sequence[str]], Sequence[str]],
    ) -> None:
        """Ask ScienceWorld's `env`. `act` takes an action and gives the answer, `admissible` lists what can be done,
        `view` is what is seen now, `restart` begins again with some actions. `go_back` begins again too, and lists what
        is admissible after each of them, as it is listed to an agent: a thing has many names, and which of them is
        listed is drawn every time."""
        self._env = env
        self._act = act
        self._admissible = admissible
        self._view = view
        self._restart = restart
        self._go_back = go_back
        templates = env.get_possible_actions_with_IDs()
        self._forms = [each["action_example"].split("OBJ") for each in templates]

    def of(self, gold: Iterable[Told]) -> list[str]:
        """The gold path, from the beginning of the game on. Where an action changes nothing any more, time passes."""
        way: list[str] = []
        listed = self._go_back(way)
        self._together = True
        self._tries = 0
        for told in settled(gold):
            action = SYNONYM.sub("look at ", told.action)
            if action in listed and not told.asked_back:
                self._act(action)
                way.append(action)
                listed = self._admissible()
            else:
                found = self._same(told, way, listed)
                way += found
                # The first try of one action has listed and taken nothing that an agent would not have.
                listed = self._admissible() if self._tries == len(found) == 1 else self._go_back(way)
        return way

    def _same(self, told: Told, way: Sequence[str], listed: Sequence[str]) -> list[str]:
        """The likely listed action that comes to the same, with the number that settles what it is asked back about.
        Where none looks the same, the game has gone another way, and from then on one that is answered alike will do;
        where none is, time passes."""
        before = self._view()
        alike = list[list[str]]()
        for tried, answer in self._tried(told, way, listed):
            after = self._view()
            answered = answer == told.answer
            if self._together and after == told.view and (answered or tried == [WAIT] or after != before):
                return tried
            if answered:
                alike.append(tried)
                if not self._together:
                    break
        self._together = False
        return alike[0] if alike else [WAIT]

    def _tried(self, told: Told, way: Sequence[str], listed: Sequence[str]) -> Iterator[tuple[list[str], str]]:
        """What may come to the same, and how it is answered, taken one after the other; the last is to wait."""
        likely = self._likely(told.action, told.answer, listed)
        ways = deque([each] for each in (likely if told.view != self._view() else likely[:FUTILE]))
        for self._tries in range(1, TRIES):
            if not ways:
                break
            actions = ways.popleft()
            answer = self._taken(actions, way)
            if answer.startswith(ASKED_BACK):
                ways.extend([*actions, number] for number in numbers(answer, told.action)[:LIKELY])
            else:
                yield actions, answer
        yield [WAIT], self._taken([WAIT], way)

    def _taken(self, actions: Sequence[str], way: Sequence[str]) -> str:
        """The answer to the last of some actions, taken after those of the way so far."""
        if self._tries > 1:
            self._restart(way)
        return [self._act(each) for each in actions][-1]

    def _likely(self, action: str, answer: str, listed: Sequence[str]) -> list[str]:
        """Listed actions that sound like an action and its answer, the likeliest first."""
        action = SYNONYM.sub("look at ", action)
        told = {*WORD.findall(answer)}
        likely = [
            (fmean(likeness) + _share({*each.split()}, told), each)
            for likeness, each in self._likeness(action, listed)
            if min(likeness) >= RELATED
        ]
        return [each for _, each in sorted(likely, key=lambda pair: (-pair[0], pair[1]))[:LIKELY]]

    def _likeness(self, action: str, listed: Sequence[str]) -> Iterator[tuple[list[float], str]]:
        """Every listed action of the same form, with how much each of its things is called alike, 0 to 1."""
        also = _Names(self._env.get_all_object_ids_types_referents_LUTJSON())
        for form in self._forms:
            ours = things(action, form)
            for each in listed if ours else ():
                readings = [
                    [_alike(our, their, also[their]) for our, their in zip(one, other, strict=True)] or [0.0]
                    for one in ours
                    for other in things(each, form)
                ]
                if readings:
                    yield max(readings, key=min), each


class _Names(dict[str, list[str]]):
    """By a name that is listed, which may say where a thing is, all names of the things that may be meant."""

    def __init__(self, things: Mapping[str, Any]) -> None:
        super().__init__()
        self._by_name: dict[str, list[str]] = {}
        for thing in things.values():
            for name in thing["referents"]:
                self._by_name.setdefault(name, []).extend(thing["referents"])

    def __missing__(self, listed: str) -> list[str]:
        words = PLACE.split(listed)
        names = ["".join(words[: n + 1]) for n in range(0, len(words), 2)]
        self[listed] = [*dict.fromkeys(also for name in names for also in self._by_name.get(name, ()))]
        return self[listed]


def settled(gold: Iterable[Told]) -> Iterator[Told]:
    """Actions and answers, where one of them is asked back about and a number settles it as one: the action as it was
    said, and what followed."""
    said = ""
    for told in gold:
        again = bool(said) and told.action.isdecimal()
        action = said if again else told.action
        said = action if told.answer.startswith(ASKED_BACK) else ""
        if not said:
            yield replace(told, action=action, asked_back=again)


def numbers(question: str, action: str) -> list[str]:
    """The numbers that are offered where an action is asked back about, first of the likeliest of what they stand
    for."""
    words = {*action.split()}
    offered = re.findall(r"^(\d+):(.*)$", question, re.MULTILINE)
    return [number for number, what in sorted(offered, key=lambda one: -_share({*WORD.findall(one[1])}, words))]


def things(action: str, literals: Sequence[str]) -> list[list[str]]:
    """Every way to read an action as the words of its form with the names of things between them."""
    if not action.startswith(literals[0]):
        return []
    rest = action[len(literals[0]) :]
    if len(literals) == 1:
        return [] if rest else [[]]
    if len(literals) == 2:
        return [[rest]]
    between = rf" {re.escape(literals[1].strip())}(?:to)? "
    return [[rest[: found.start()], rest[found.end() :]] for found in re.finditer(between, rest)]


def _alike(name: str, listed: str, also: Sequence[str]) -> float:
    """Share of words in common with the listed name of a thing, or nearly that of the most similar of its others."""
    words, *others = [{*each.split()} - FILLING for each in (name, listed, *also)]
    first, *shares = [_share(words, each) for each in others]
    return max([first, *(ALSO * each for each in shares)])


def _share(some: set[str], others: set[str]) -> float:
    """Of all words of both, those in common."""
    return len(some & others) / max(1, len(some | others))
