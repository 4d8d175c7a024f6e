"""Forms of public PDDL files: each is read by its meaning or refused by name.

The forms are made here, and their meaning is found by a planner that shares nothing
with the plugin.
"""

import os
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pddl_planner import Task

from gde.errors import ConfigError, GdeError
from gde_plugins.blocksworld.config import BlocksworldConfig
from gde_plugins.blocksworld.environment import BlocksworldEnvironment

N_FORMS = int(os.environ.get("GDE_PDDL_FORMS", "150"))
N_DAMAGED = int(os.environ.get("GDE_FUZZ", "300"))
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
  :effect (and (holding ?x) (clear ?y) (not (clear ?x)) (not (handempty)) (not (on ?x ?y)))))
"""
PROBLEM = """(define (problem p) (:domain blocks)
 (:objects a b c)
 (:init (handempty) (ontable a) (on b a) (clear b) (ontable c) (clear c))
 (:goal (and GOAL)))
"""
Files = tuple[str, str]


def swap(old: str, new: str, place: int = 0) -> Callable[[Files], Files]:
    """Replace a text of the domain (0) or the problem (1), where it is."""

    def changed(files: Files) -> Files:
        texts = [*files]
        texts[place] = texts[place].replace(old, new)
        return texts[0], texts[1]

    return changed


def typed(files: Files) -> Files:
    domain, problem = files
    domain = domain.replace("(:predicates", "(:types block)\n (:predicates")
    domain = domain.replace("(?x)\n", "(?x - block)\n").replace(
        "(?x ?y)\n  ", "(?x ?y - block)\n  "
    )
    domain, problem = (
        text.replace("a b c)", "a b c - block)") for text in (domain, problem)
    )
    return domain, problem


def constants(files: Files) -> Files:
    """The objects in the domain."""
    domain, problem = files
    start = problem.index("(:objects")
    end = problem.index(")", start) + 1
    objects = problem[start:end].replace("objects", "constants")
    domain = domain.replace("(:predicates", f"{objects} (:predicates")
    return domain, problem[:start] + problem[end:]


def priced(*costs: int) -> Callable[[Files], Files]:
    def changed(files: Files) -> Files:
        domain, problem = files
        left = iter(costs)
        parts = domain.split(":effect (and ")
        priced = [f"(increase (total-cost) {next(left)}) {each}" for each in parts[1:]]
        domain = ":effect (and ".join([parts[0], *priced])
        domain = domain.replace(
            "(:predicates", "(:functions (total-cost) - number) (:predicates"
        )
        problem = problem.replace("(:init", "(:init (= (total-cost) 0)")
        return domain, problem.replace(
            "(:goal", "(:metric minimize (total-cost)) (:goal"
        )

    return changed


READ: dict[str, Callable[[Files], Files]] = {
    "typed": typed,
    "uniform costs": priced(1, 1, 1, 1),
    "crlf": lambda files: (files[0].replace("\n", "\r\n"), files[1]),
    "an unused predicate": swap("(:predicates", "(:predicates (handfull) (size ?x)"),
    "an idle fact": lambda files: swap("(:init", "(:init (size a)", 1)(
        swap("(:predicates", "(:predicates (size ?x)")(files)
    ),
    "constants": constants,
    "different blocks": swap("?x) (clear ?y))", "?x) (clear ?y) (not (= ?x ?y)))"),
    "a comment": swap("(:goal", "; gelöst\n (:goal", 1),
    "upper case": swap("handempty", "HandEmpty"),
    "an and of one": swap("(and (holding ?x))", "(holding ?x)"),
    "nested and": swap("(:goal (and", "(:goal (and (and (clear b))", 1),
}
"""Forms with the meaning of the four operators."""
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
    "a heavy block": lambda files: swap("(:init", "(:init (heavy a)", 1)(
        swap("(clear ?x) (ontable ?x)", "(not (heavy ?x)) (clear ?x) (ontable ?x)")(
            swap("(:predicates", "(:predicates (heavy ?x)")(files)
        )
    ),
    "another precondition": lambda files: swap("(:init", "(:init (light a)", 1)(
        swap("(clear ?x) (ontable ?x)", "(light ?x) (clear ?x) (ontable ?x)")(
            swap("(:predicates", "(:predicates (light ?x)")(files)
        )
    ),
    "other costs": priced(1, 2, 1, 1),
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
    "types that differ": lambda files: swap(
        "a b c - block", "a b - block c - table", 1
    )(typed(files)),
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
    "an idle goal": lambda files: swap("(:goal (and", "(:goal (and (size a)", 1)(
        swap("(:predicates", "(:predicates (size ?x)")(files)
    ),
    "not in init": swap("(:init", "(:init (not (clear a))", 1),
    "a timed fact": swap("(:init", "(:init (at 5 (clear a))", 1),
    "a number in init": swap("(:init", "(:init (= (weight a) 3)", 1),
    "either in an object": swap("a b c)", "a b c - (either block thing))", 1),
    "another metric": swap("(:goal", "(:metric maximize (total-cost)) (:goal", 1),
    "constraints": swap("(:goal", "(:constraints (always (clear a))) (:goal", 1),
}
"""Forms with another meaning."""
GOALS = (
    *("(on a b)", "(on b c) (on c a)", "(ontable b)", "(on a b) (on b a)", "(clear a)"),
    *("(on c b) (clear c)", "(on a c) (on b c)", "(handempty) (on a b)"),
)


def forms(seed: int) -> Iterator[tuple[Files, bool]]:
    """Files of several forms at once, and whether one of them has another meaning."""
    rng = random.Random(seed)
    while True:
        files = (DOMAIN, PROBLEM.replace("GOAL", rng.choice(GOALS)))
        chosen = rng.sample(sorted(READ), rng.randint(0, 3))
        before = files
        for name in chosen:
            files = READ[name](files)
        is_other = rng.random() < 0.5
        if is_other:
            before = files
            files = REFUSED[rng.choice(sorted(REFUSED))](files)
        # A form may find nothing to change after another.
        if not is_other or files != before:
            yield files, is_other


def played(files: Files, folder: Path) -> int | None:
    """The length of a shortest plan by the plugin; None if it says that there is none."""
    for name, text in zip(("d", "p"), files, strict=True):
        (folder / f"{name}.pddl").write_text(text, encoding="utf-8", newline="")
    world = BlocksworldEnvironment(BlocksworldConfig(problems=folder))
    world.reset(0)
    value = world.optimum().value
    assert value is not None
    return None if value == -float("inf") else -int(value)


def test_forms_are_read_by_their_meaning_or_refused_by_name(tmp_path: Path) -> None:
    made = forms(0)
    for _ in range(N_FORMS):
        files, is_other = next(made)
        try:
            found = played(files, tmp_path)
        except GdeError as error:
            is_done = not is_other and Task(*files).steps() == 0
            wanted = "holds at first" if is_done else r"[dp]\.pddl:\d+: wanted"
            assert re.search(wanted, str(error))
            assert is_other or is_done
        else:
            assert found == Task(*files).steps()


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_another_meaning_is_named(name: str, tmp_path: Path) -> None:
    files = (DOMAIN, PROBLEM.replace("GOAL", "(on a b)"))
    if "types" in name:
        files = typed(files)
    changed = REFUSED[name](files)
    with pytest.raises(ConfigError, match=r"[dp]\.pddl:\d+: wanted"):
        played(changed, tmp_path)


def test_damaged_files_are_refused_in_one_line(tmp_path: Path) -> None:
    rng = random.Random(0)
    made = forms(1)
    for _ in range(N_DAMAGED):
        (domain, problem), _ = next(made)
        texts = [bytearray(domain.encode()), bytearray(problem.encode())]
        for text in texts:
            for _ in range(rng.randint(0, 4)):
                place = rng.randrange(len(text))
                end = place + rng.choice((1, 1, 1, 30))
                text[place:end] = rng.choice(
                    (b"", b"(", b")", b"not ", b"\xff", b"-", b" ")
                )
        for name, text in zip(("d", "p"), texts, strict=True):
            (tmp_path / f"{name}.pddl").write_bytes(text)
        try:
            world = BlocksworldEnvironment(BlocksworldConfig(problems=tmp_path))
            world.reset(0)
        except GdeError as error:
            assert "\n" not in str(error)


def test_a_domain_is_told_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "instances").mkdir()
    (tmp_path / "generated_domain.pddl").write_text(DOMAIN, encoding="utf-8")
    for name, encoding in (("one", "utf-16"), ("two", "utf-8-sig")):
        (tmp_path / "instances" / f"{name}.pddl").write_text(
            PROBLEM.replace("GOAL", "(on a b)"), encoding=encoding
        )
    (tmp_path / "instances" / "three.pddl").write_bytes(
        ("; número\n" + PROBLEM.replace("GOAL", "(on a b)")).encode("latin-1")
    )
    world = BlocksworldEnvironment(BlocksworldConfig(problems=tmp_path))
    assert len(world.worlds()) == 3
    for seed in range(3):
        world.reset(seed)
        assert world.optimum().value == -4
