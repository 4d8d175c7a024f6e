"""Forms of public PDDL files: each is read by its meaning or refused by name.

The forms are made here, and their meaning is found by a planner that shares nothing
with the plugin.
"""

import math
import random
import re
from collections.abc import Callable, Iterator
from itertools import islice, pairwise, permutations
from pathlib import Path

import pytest
from pddl_planner import Task

from gde.errors import ConfigError, GdeError
from gde_plugins.blocksworld.config import BlocksworldConfig
from gde_plugins.blocksworld.environment import BlocksworldEnvironment

DOMAIN = """(define (domain blocks) ; four operators
 (:requirements :strips)
 (:predicates (on ?x ?y) (ontable ?x) (clear ?x) (handempty) (holding ?x))
 (:action pick-up :parameters (?x)
  :precondition (and (clear ?x) (ontable ?x) (handempty))
  :effect (and (not (ontable ?x)) (not (clear ?x)) (not (handempty)) (holding ?x)))
 (:action put-down :parameters (?x)
  :precondition (and (holding ?x))
  :effect (and (not (holding ?x)) (clear ?x) (handempty) (ontable ?x)))
 (:action stack :parameters (?x ?y)
  :precondition (and (holding ?x) (clear ?y))
  :effect (and (not (holding ?x)) (not (clear ?y)) (clear ?x) (handempty) (on ?x ?y)))
 (:action unstack :parameters (?x ?y)
  :precondition (and (on ?x ?y) (clear ?x) (handempty))
  :effect (and (holding ?x) (clear ?y) (not (clear ?x)) (not (handempty)) (not (on ?x ?y))))
)
"""
PROBLEM = """(define (problem p) (:domain blocks)
 (:objects BLOCKS)
 (:init START)
 (:goal (and GOAL)))
"""
OTHER_WORDS = {
    "on": "craves",
    "ontable": "planet",
    "clear": "province",
    "holding": "pain",
    "handempty": "harmony",
    "unstack": "feast",
    "a": "1",
    "b": "2_x",
    "c": "Y-3",
}
Files = tuple[str, str]


def random_problem(rng: random.Random) -> Files:
    """Towers of two to four blocks, and a goal that may be none."""
    blocks = "abcd"[: rng.choice((2, 3, 3, 3, 4))]
    towers: list[str] = []
    for block in rng.sample(blocks, len(blocks)):
        place = rng.randrange(len(towers) + 1)
        if place == len(towers):
            towers.append(block)
        else:
            towers[place] += block
    facts = ["(handempty)"]
    if len(towers) > 1 and len(towers[-1]) == 1 and rng.random() < 0.3:
        facts = [f"(holding {towers.pop()})"]
    for tower in towers:
        facts += [f"(ontable {tower[0]})", f"(clear {tower[-1]})"]
        facts += [f"(on {upper} {lower})" for lower, upper in pairwise(tower)]
    asked = [f"(on {' '.join(pair)})" for pair in permutations(blocks, 2)]
    asked += [f"({word} {block})" for word in ("ontable", "clear") for block in blocks]
    goal = rng.sample([*asked, "(handempty)"], rng.randint(1, 3))
    told = PROBLEM.replace("BLOCKS", " ".join(blocks))
    return DOMAIN, told.replace("START", " ".join(facts)).replace(
        "GOAL", " ".join(goal)
    )


PLAIN = (
    DOMAIN,
    PROBLEM.replace("BLOCKS", "a b c")
    .replace(
        "START", "(handempty) (ontable a) (on b a) (clear b) (ontable c) (clear c)"
    )
    .replace("GOAL", "(on a b)"),
)


def swap(old: str, new: str, place: int = 0) -> Callable[[Files], Files]:
    """Replace a text of the domain (0) or the problem (1), where it is."""

    def changed(files: Files) -> Files:
        texts = [*files]
        texts[place] = texts[place].replace(old, new)
        return texts[0], texts[1]

    return changed


def typed(files: Files) -> Files:
    domain, problem = files
    if "(:types" in domain:
        return files
    domain = domain.replace("(:predicates", "(:types block)\n (:predicates")
    domain = re.sub(r":parameters \(([^)]*)\)", r":parameters (\1 - block)", domain)
    given = re.compile(r"(\(:(?:objects|constants)[^)]*)\)")
    return given.sub(r"\1 - block)", domain), given.sub(r"\1 - block)", problem)


def constants(files: Files) -> Files:
    """The objects in the domain."""
    domain, problem = files
    start = problem.index("(:objects")
    end = problem.index(")", start) + 1
    objects = problem[start:end].replace("objects", "constants")
    domain = domain.replace("(:predicates", f"{objects} (:predicates")
    return domain, problem[:start] + problem[end:]


def priced(*costs: int) -> Callable[[Files], Files]:
    """A metric, and the costs of the four operators or of none."""

    def changed(files: Files) -> Files:
        domain, problem = files
        if ":metric" in problem:
            return files
        first, *effects = domain.split(":effect (and ")
        dear = [f"(increase (total-cost) {cost}) " for cost in costs] or [""] * 4
        effects = [cost + effect for cost, effect in zip(dear, effects, strict=True)]
        domain = ":effect (and ".join([first, *effects])
        domain = domain.replace(
            "(:action pick-up",
            "(:functions (total-cost) - number)\n (:action pick-up",
        )
        problem = problem.replace("(:init", "(:init (= (total-cost) 0)")
        return domain, f"{problem.rstrip()[:-1]} (:metric minimize (total-cost)))"

    return changed


def each(change: Callable[[str], str]) -> Callable[[Files], Files]:
    """Change both texts."""
    return lambda files: (change(files[0]), change(files[1]))


def in_turn(*changes: Callable[[Files], Files]) -> Callable[[Files], Files]:
    def changed(files: Files) -> Files:
        for change in changes:
            files = change(files)
        return files

    return changed


def renamed(text: str) -> str:
    return re.sub(
        r"(?<![\w:?-])[\w-]+", lambda word: OTHER_WORDS.get(word[0], word[0]), text
    )


READ: dict[str, Callable[[Files], Files]] = {
    "constants": constants,
    "typed": typed,
    "a hierarchy": in_turn(
        typed, swap("(:types block)", "(:types block - thing thing)")
    ),
    "uniform costs": priced(1, 1, 1, 1),
    "costs of the metric alone": priced(),
    "an unused predicate": swap("(:predicates", "(:predicates (handfull) (near ?x ?y)"),
    "an idle fact": in_turn(
        swap("(:predicates", "(:predicates (size ?x)"),
        swap("(:init", "(:init (size a)", 1),
    ),
    "different blocks": swap("?x) (clear ?y))", "?x) (clear ?y) (not (= ?x ?y)))"),
    "an and of one": swap("(and (holding ?x))", "(holding ?x)"),
    "nested and": swap("(:goal (and", "(:goal (and (and) (and (clear a))", 1),
    "a fact twice": lambda files: (
        files[0],
        re.sub(r":init (\([^()]*\))", r":init \1 \1", files[1]),
    ),
    "requirements without use": swap("(:requirements :strips", "(:requirements :adl"),
    "no requirements": swap(" (:requirements :strips)\n", ""),
    "another order": swap("(on ?x ?y) (clear ?x) (hand", "(clear ?x) (on ?x ?y) (hand"),
    "the effect first": lambda files: (
        re.sub(r"(:precondition .*)\n *(:effect .*)\)", r"\2\n  \1)", files[0]),
        files[1],
    ),
}
"""Forms with the meaning of the four operators."""
LOOKS: dict[str, Callable[[Files], Files]] = {
    "other words": each(renamed),
    "upper case": each(str.upper),
    "mixed case": swap("handempty", "HandEmpty"),
    "a line": each(lambda text: re.sub(r";.*|\s+", " ", text)),
    "close words": each(
        lambda text: re.sub(r"\s*([()])\s*", r"\1", re.sub(";.*", "", text))
    ),
    "tabs and comments": each(lambda text: text.replace("\n", " ; gelöst :) (\n\t")),
    "crlf": each(lambda text: text.replace("\n", "\r\n")),
    "a mark": each(lambda text: f"\ufeff{text}"),
}
"""The same forms in other letters."""
REFUSED: dict[str, Callable[[Files], Files]] = {
    "a negative precondition": swap(
        "(ontable ?x) (hand", "(not (on ?x ?x)) (ontable ?x) (hand"
    ),
    "a block that stays": swap(
        "(ontable ?x) (hand", "(not (= ?x a)) (ontable ?x) (hand"
    ),
    "a block that is itself": swap(
        "(ontable ?x) (hand", "(not (= ?x ?x)) (ontable ?x) (hand"
    ),
    "a heavy block": in_turn(
        swap("(:init", "(:init (heavy a)", 1),
        swap("(clear ?x) (ontable ?x)", "(not (heavy ?x)) (clear ?x) (ontable ?x)"),
        swap("(:predicates", "(:predicates (heavy ?x)"),
    ),
    "another precondition": in_turn(
        swap("(:init", "(:init (light a)", 1),
        swap("(clear ?x) (ontable ?x)", "(light ?x) (clear ?x) (ontable ?x)"),
        swap("(:predicates", "(:predicates (light ?x)"),
    ),
    "a missing effect": swap("(clear ?y) (not (clear ?x))", "(not (clear ?x))"),
    "an effect and its contrary": swap(
        "(handempty) (ontable ?x)", "(holding ?x) (handempty) (ontable ?x)"
    ),
    "equal blocks": swap("(clear ?y))", "(clear ?y) (= ?x ?y))"),
    "a free variable": in_turn(
        swap("stack :parameters (?x ?y", "stack :parameters (?x"),
        each(lambda text: text.replace("?y", "?1")),
    ),
    "a predicate twice": swap("(:predicates (on", "(:predicates (on ?x) (on"),
    "an action twice": swap(
        "action pick-up", "action stack :effect (handempty))\n (:action pick-up"
    ),
    "two definitions": each(lambda text: f"{text}(define (problem q))"),
    "other costs": priced(1, 2, 1, 1),
    "an action without costs": priced(1, 1, 1, 0),
    "a negative cost": priced(-1, -1, -1, -1),
    "less than before": swap(
        ":effect (and (not (ontable",
        ":effect (and (decrease (total-cost) 1) (not (ontable",
    ),
    "a condition on numbers": swap(
        "(and (holding ?x) (clear ?y)",
        "(and (> (total-cost) 3) (holding ?x) (clear ?y)",
    ),
    "costs by block": swap(
        ":effect (and (not (ontable",
        ":effect (and (increase (total-cost) (weight ?x)) (not (ontable",
    ),
    "or": swap("(and (holding ?x) (clear ?y))", "(or (holding ?x) (clear ?y))"),
    "a conditional effect": swap("(ontable ?x)))", "(when (clear ?x) (ontable ?x))))"),
    "forall in an effect": swap("(ontable ?x)))", "(forall (?z) (ontable ?z))))"),
    "either in a parameter": swap(
        ":parameters (?x)", ":parameters (?x - (either a b))"
    ),
    "types that differ": swap(
        "pick-up :parameters (?x", "pick-up :parameters (?x - crate"
    ),
    "a derived predicate": swap(
        "(:action stack", "(:derived (on ?x ?y) (clear ?x)) (:action stack"
    ),
    "a durative action": swap("(:action stack", "(:durative-action stack"),
    "a fifth operator": swap(
        "(:action stack",
        "(:action drop :parameters () :effect (handempty)) (:action stack",
    ),
    "or in the goal": swap("(:goal (and", "(:goal (or (on a c)", 1),
    "not in the goal": swap("(:goal (and", "(:goal (and (not (on b a))", 1),
    "forall in the goal": swap(
        "(:goal (and", "(:goal (and (forall (?x) (ontable ?x))", 1
    ),
    "exists in the goal": swap("(:goal (and", "(:goal (and (exists (?x) (on ?x a))", 1),
    "imply in the goal": swap(
        "(:goal (and", "(:goal (and (imply (clear a) (clear b))", 1
    ),
    "a preference": swap("(:goal (and", "(:goal (and (preference p (clear a))", 1),
    "an idle goal": in_turn(
        swap("(:goal (and", "(:goal (and (size a)", 1),
        swap("(:predicates", "(:predicates (size ?x)"),
    ),
    "not in init": swap("(:init", "(:init (not (clear a))", 1),
    "a timed fact": swap("(:init", "(:init (at 5 (clear a))", 1),
    "a number in init": swap("(:init", "(:init (= (weight a) 3)", 1),
    "either in an object": swap("a b c)", "a b c - (either block thing))", 1),
    "another metric": swap("(:goal", "(:metric maximize (total-cost)) (:goal", 1),
    "an unknown block": swap("(:goal (and", "(:goal (and (clear z)", 1),
    "too few blocks": swap("(:goal (and", "(:goal (and (on a)", 1),
    "constraints": swap("(:goal", "(:constraints (always (clear a))) (:goal", 1),
}
"""Forms with another meaning."""


def forms(seed: int) -> Iterator[tuple[Files, bool]]:
    """Files of several forms at once, and whether one of them has another meaning."""
    rng = random.Random(seed)
    while True:
        files = random_problem(rng)
        for name in rng.sample(sorted(READ), rng.randint(0, 3)):
            files = READ[name](files)
        before = files
        is_other = rng.random() < 0.5
        if is_other:
            files = REFUSED[rng.choice(sorted(REFUSED))](files)
        # A form may find nothing to change after another.
        if is_other and files == before:
            continue
        for name in LOOKS:
            files = LOOKS[name](files) if rng.random() < 0.2 else files
        yield files, is_other


def opened(files: Files, folder: Path) -> BlocksworldEnvironment:
    for name, text in zip(("d", "p"), files, strict=True):
        (folder / f"{name}.pddl").write_text(text, encoding="utf-8", newline="")
    world = BlocksworldEnvironment(BlocksworldConfig(problems=folder))
    world.reset(0)
    return world


def follow(world: BlocksworldEnvironment, task: Task) -> int | None:
    """The steps of the demonstration, each of which the other planner allows too; None
    where a proof says that there is none.
    """
    if world.optimum().value == -math.inf:
        return None
    facts = task.start
    plan = world.demonstration()
    shown = world.reset(0)
    for action in plan:
        after = [*task.after(facts)]
        assert len(shown.actions or ()) == len({each for _, each in after})
        blocks = tuple(word for word in action.split() if word in task.objects)
        facts = dict(after)[blocks]
        shown = world.step(action).observation
    assert task.holds(task.goal, facts, {})
    return len(plan)


@pytest.mark.parametrize(
    "n", [150, pytest.param(1500, marks=pytest.mark.extended)], ids=str
)
def test_forms_are_read_by_their_meaning_or_refused_by_name(
    n: int, tmp_path: Path
) -> None:
    for files, is_other in islice(forms(n), n):
        try:
            world = opened(files, tmp_path)
        except GdeError as error:
            is_done = not is_other and Task(*files).steps() == 0
            wanted = "holds at first" if is_done else r"[dp]\.pddl:\d+: wanted"
            assert re.search(wanted, str(error))
            assert is_other or is_done
        else:
            task = Task(*files)
            assert follow(world, task) == task.steps()


@pytest.mark.parametrize("name", sorted(READ | LOOKS))
def test_a_form_changes_nothing(name: str, tmp_path: Path) -> None:
    files = (READ | LOOKS)[name](PLAIN)
    assert files != PLAIN
    assert follow(opened(files, tmp_path), Task(*files)) == 4


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_another_meaning_is_named(name: str, tmp_path: Path) -> None:
    files = REFUSED[name](PLAIN)
    assert files != PLAIN
    with pytest.raises(ConfigError, match=r"[dp]\.pddl:\d+: wanted"):
        opened(files, tmp_path)


def test_a_domain_is_told_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "instances").mkdir()
    (tmp_path / "generated_domain.pddl").write_text(DOMAIN, encoding="utf-8")
    for name, encoding in (("one", "utf-16"), ("two", "utf-8-sig")):
        (tmp_path / "instances" / f"{name}.pddl").write_text(
            PLAIN[1], encoding=encoding
        )
    (tmp_path / "instances" / "three.pddl").write_bytes(
        ("; número\n" + PLAIN[1]).encode("latin-1")
    )
    world = BlocksworldEnvironment(BlocksworldConfig(problems=tmp_path))
    assert len(world.worlds()) == 3
    for seed in range(3):
        world.reset(seed)
        assert world.optimum().value == -4
