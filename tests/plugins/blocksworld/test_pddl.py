"""PDDL in and out, in its own words and in others, and what is refused."""

from math import inf
from pathlib import Path

import numpy as np
import pytest

from gde.data.observation import Optimum
from gde.errors import ConfigError, GdeError
from gde_plugins.blocksworld.config import BlocksworldConfig
from gde_plugins.blocksworld.domain import OPERATORS, PREDICATES, Terms, read_terms
from gde_plugins.blocksworld.environment import BlocksworldEnvironment
from gde_plugins.blocksworld.problem import read_pddl, write_pddl
from gde_plugins.blocksworld.problems import random_problem

PROBLEM = """(define (problem p) (:domain blocksworld-4ops) ; a comment
 (:objects a b c - block)
 (:init (handempty) (ontable a) (on b a) (ontable c) (clear b) (clear c))
 (:goal (and (on a b))))"""
OTHER_WORDS = {
    "handempty": "harmony", "ontable": "planet", "clear": "province", "holding": "pain", "on": "craves",
    "pick-up": "attack", "put-down": "succumb", "stack": "overcome", "unstack": "feast",
}  # fmt: skip


def domain(rename: dict[str, str]) -> str:
    def said(atom: tuple[str, ...]) -> str:
        return f"({' '.join((rename.get(atom[0], atom[0]), *atom[1:]))})"

    actions = []
    for name, operator in OPERATORS.items():
        blocks = (
            ["?0", "?1"] if any("?1" in atom for atom in operator.needs) else ["?0"]
        )
        effects = [
            *map(said, operator.adds),
            *(f"(not {said(atom)})" for atom in operator.removes),
        ]
        actions.append(
            f"(:action {rename.get(name, name)} :parameters ({' '.join(blocks)})\n"
            f":precondition (and {' '.join(map(said, operator.needs))})\n:effect (and {' '.join(effects)}))"
        )
    stated = " ".join(
        said((name, *(f"?{i}" for i in range(n)))) for name, n in PREDICATES.items()
    )
    return f"(define (domain d) (:requirements :strips) (:predicates {stated})\n{' '.join(actions)})"


def renamed(text: str) -> str:
    for ours in ("handempty", "ontable", "clear", "holding"):
        text = text.replace(f"({ours}", f"({OTHER_WORDS[ours]}")
    return text.replace("(on ", "(craves ")


def folder(path: Path, **files: str) -> Path:
    for name, text in files.items():
        (path / f"{name}.pddl").write_text(text, encoding="utf-8")
    return path


def environment(path: Path) -> BlocksworldEnvironment:
    return BlocksworldEnvironment(BlocksworldConfig(problems=path))


def test_what_is_written_is_read_again() -> None:
    for seed in range(20):
        n_blocks = int(np.random.default_rng(seed).integers(2, 9))
        config = BlocksworldConfig(blocks=n_blocks)
        problem = random_problem(config, seed)
        again = read_pddl(write_pddl(problem), problem.name, Terms())
        assert (again, again.id) == (problem, problem.id)


def test_a_domain_is_known_by_what_its_operators_do() -> None:
    assert read_terms(domain({})) == Terms()
    terms = read_terms(domain(OTHER_WORDS))
    assert {**terms.predicates, **terms.operators} == OTHER_WORDS
    # Which predicate means what is seen from the operators alone: here two names have
    # changed places.
    swapped = read_terms(
        domain({"ontable": "clear", "clear": "ontable"} | {"holding": "held"})
    )
    assert (swapped.predicates["ontable"], swapped.predicates["holding"]) == (
        "clear",
        "held",
    )


@pytest.mark.parametrize(
    "text",
    [
        domain({}).replace("(not (handempty))", ""),
        "(define (domain d) (:predicates (at ?x)))",
        domain({}).replace("(:action stack", "(:action other"),
    ],
    ids=["an effect is missing", "another world", "another name"],
)
def test_another_domain_is_refused(text: str, tmp_path: Path) -> None:
    path = folder(tmp_path, domain=text, p=PROBLEM)
    if "other" in text:
        assert "other b a" in " ".join(_actions_after_lifting(environment(path)))
        return
    with pytest.raises(
        ConfigError,
        match=r"env.problems: .*domain.pddl:1: wanted a domain with the four operators",
    ):
        environment(path)


def _actions_after_lifting(world: BlocksworldEnvironment) -> tuple[str, ...]:
    world.reset(0)
    return world.step("unstack b from a").observation.actions or ()


def test_a_problem_in_other_words_is_told_in_them(tmp_path: Path) -> None:
    world = environment(
        folder(tmp_path, domain=domain(OTHER_WORDS), p=renamed(PROBLEM))
    )
    shown = world.reset(0)
    assert "Craves b a." in shown.text
    assert shown.actions == ("feast b a", "attack c")
    assert "pain X" in world.task().rules
    for action in world.demonstration():
        outcome = world.step(action)
    assert outcome.success == 1


def test_worlds_are_the_problems_of_a_folder(tmp_path: Path) -> None:
    world = environment(
        folder(tmp_path, one=PROBLEM, two=PROBLEM.replace("(on a b)", "(on c b)"))
    )
    assert [name.split()[0] for name in world.worlds()] == ["one.pddl", "two.pddl"]
    world.reset(1)
    assert world.task().objective == "Bring it about that block c is on block b."


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "(and (on a b))",
            "(and (not (on a b)))",
            r":4: wanted atoms joined by `and` alone, got \(not \(on a b\)\)",
        ),
        (
            "(and (on a b))",
            "(or (on a b))",
            r":4: wanted atoms joined by `and` alone, got \(or \(on a b\)\)",
        ),
        (
            "(and (on a b))",
            "(and (holding b))",
            "a goal of on, ontable, clear and handempty",
        ),
        ("(and (on a b))", "(and (on b a))", "not solved yet, its goal holds at first"),
        ("(and (on a b))", "(and (on a z))", "of the blocks a b c"),
        ("(clear b)", "(clear a)", "agrees with itself"),
        ("(ontable c)", "", ":3: wanted a place for c at first"),
        (
            "(ontable c)",
            "(ontable c) (on c b)",
            ":3: wanted one place for c at first, not two",
        ),
        (
            "(on b a)",
            "(craves b a)",
            r"file of the domain that it is written in\), got \(craves b a\)",
        ),
        ("(and (on a b))))", "(and (on a b", "the text is cut off"),
        ("(define", "(refine", r"one \(define"),
    ],
)
def test_a_bad_problem_costs_its_own_episode(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in PROBLEM
    world = environment(folder(tmp_path, bad=PROBLEM.replace(old, new), good=PROBLEM))
    with pytest.raises(GdeError, match=message) as told:
        world.reset(0)
    assert "bad" in str(told.value)
    assert world.reset(1).actions


def test_a_goal_that_contradicts_itself_is_an_impossible_world(tmp_path: Path) -> None:
    text = PROBLEM.replace("(and (on a b))", "(and (on a b) (on b a))")
    world = environment(folder(tmp_path, circle=text))
    world.reset(0)
    assert world.task().objective.endswith(
        "block a is on block b and block b is on block a."
    )
    assert world.optimum() == Optimum.out_of_reach(
        "proof: a on b on a would be a circle"
    )
    assert world.step("unstack b from a").success == 0
    assert world.optimum().value == -inf
    assert world.world().labels == {"blocks": 3}
    with pytest.raises(GdeError, match="circle cannot be solved: a on b on a would"):
        world.demonstration()


def test_a_folder_without_problems_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(ConfigError, match="wanted a folder with problems in PDDL"):
            environment(path)
