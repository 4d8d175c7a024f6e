"""A small planner for PDDL of any form, which shares nothing with the plugin: it grounds
everything and searches breadth first.
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping, Set
from itertools import product
from typing import Any

Fact = tuple[str, ...]


def read(text: str) -> Any:
    text = re.sub(r";[^\n]*", "", text.lower().removeprefix("\ufeff"))
    stack: list[list[Any]] = [[]]
    for token in re.findall(r"[()]|[^\s()]+", text):
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    return stack[0][0][1:]


def typed(names: list[Any]) -> dict[str, set[str]]:
    kinds: dict[str, set[str]] = {}
    waiting: list[str] = []
    place = 0
    while place < len(names):
        if names[place] == "-":
            kind = names[place + 1]
            of = {kind} if isinstance(kind, str) else set(kind[1:])
            kinds.update(dict.fromkeys(waiting, of))
            waiting, place = [], place + 2
        else:
            waiting.append(names[place])
            place += 1
    return {**kinds, **{name: {"object"} for name in waiting}}


class Task:
    def __init__(self, domain: str, problem: str) -> None:
        self.parents: dict[str, set[str]] = {}
        self.actions: list[dict[str, Any]] = []
        objects: dict[str, set[str]] = {}
        for name, *rest in read(domain):
            if name == ":types":
                self.parents = typed(rest)
            elif name == ":constants":
                objects.update(typed(rest))
            elif name == ":action":
                parts = dict(zip(rest[1::2], rest[2::2], strict=True))
                self.actions.append({"name": rest[0], **parts})
        for name, *rest in read(problem):
            if name == ":objects":
                objects.update(typed(rest))
            elif name == ":init":
                self.start = frozenset(
                    tuple(each) for each in rest if each[0] not in ("=", "not")
                )
            elif name == ":goal":
                self.goal = rest[0]
        self.objects = objects

    def fits(self, name: str, wanted: Set[str]) -> bool:
        kinds = {*self.objects[name], "object"}
        for _ in self.parents:
            for kind in [*kinds]:
                kinds |= self.parents.get(kind, set())
        return bool(kinds & set(wanted))

    def holds(self, what: Any, facts: Set[Fact], names: Mapping[str, str]) -> bool:
        match what:
            case []:
                return True
            case ["and", *parts]:
                return all(self.holds(each, facts, names) for each in parts)
            case ["or", *parts]:
                return any(self.holds(each, facts, names) for each in parts)
            case ["imply", one, other]:
                return not self.holds(one, facts, names) or self.holds(
                    other, facts, names
                )
            case ["not", part]:
                return not self.holds(part, facts, names)
            case ["=", one, other]:
                return names.get(one, one) == names.get(other, other)
            case ["forall" | "exists" as word, variables, part]:
                every = (
                    self.holds(part, facts, {**names, **more})
                    for more in self.bindings(variables)
                )
                return all(every) if word == "forall" else any(every)
        return (what[0], *(names.get(each, each) for each in what[1:])) in facts

    def bindings(self, variables: list[Any]) -> Iterator[dict[str, str]]:
        kinds = typed(variables)
        choices = [
            [name for name in self.objects if self.fits(name, wanted)]
            for wanted in kinds.values()
        ]
        for chosen in product(*choices):
            yield dict(zip(kinds, chosen, strict=True))

    def effects(
        self, what: Any, facts: Set[Fact], names: Mapping[str, str]
    ) -> Iterator[tuple[bool, Fact]]:
        match what:
            case [] | ["increase", *_]:
                return
            case ["and", *parts]:
                for each in parts:
                    yield from self.effects(each, facts, names)
            case ["when", condition, part]:
                if self.holds(condition, facts, names):
                    yield from self.effects(part, facts, names)
            case ["forall", variables, part]:
                for more in self.bindings(variables):
                    yield from self.effects(part, facts, {**names, **more})
            case ["not", part]:
                yield False, (part[0], *(names.get(each, each) for each in part[1:]))
            case _:
                yield True, (what[0], *(names.get(each, each) for each in what[1:]))

    def after(self, facts: frozenset[Fact]) -> Iterator[tuple[Fact, frozenset[Fact]]]:
        """The arguments of each possible action, and what holds after it."""
        for action in self.actions:
            for names in self.bindings(action.get(":parameters", [])):
                if not self.holds(action.get(":precondition", []), facts, names):
                    continue
                told = [*self.effects(action.get(":effect", []), facts, names)]
                removed = {fact for adds, fact in told if not adds}
                added = {fact for adds, fact in told if adds}
                yield (*names.values(),), (facts - removed) | added

    def steps(self) -> int | None:
        """The length of a shortest plan; None if there is none."""
        queue = deque([(self.start, 0)])
        seen = {self.start}
        while queue:
            facts, steps = queue.popleft()
            if self.holds(self.goal, facts, {}):
                return steps
            for _, after in self.after(facts):
                if after not in seen:
                    seen.add(after)
                    queue.append((after, steps + 1))
        return None
