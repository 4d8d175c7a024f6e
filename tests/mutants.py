"""Mutation testing of the modules that have changed since the last release: `nox -s
mutants`, or `python tests/mutants.py [--since REVISION] [MODULE ...]`.

Cosmic Ray changes one operator, number or branch of a module at a time in a copy of the
tree and runs the module's own tests. A mutant that no test notices survives. Each
module takes a random sample of its mutants, the same every time.
"""

import argparse
import ast
import contextlib
import importlib
import multiprocessing
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from cosmic_ray.commands import init
from cosmic_ray.mutating import use_mutation
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import MutationSpec

ROOT = Path(__file__).parents[1]
BEYOND = ROOT / "tests" / "mutants.toml"
WANTED = 0.85
"""Share of each module's mutants that must be killed, those listed as equivalent left
out.
"""
SAMPLE = 25
"""Places of a module at which a mutant is tried."""
SEED = 2
"""Another seed draws other mutants."""
SECONDS = 90
"""Time that the tests of one mutant may take; an endless loop counts as killed."""
MEMORY = 8 * 2**30
"""Bytes that the tests of one mutant may take: an endless loop may also collect."""
RAISES = re.compile(
    r"BinaryOperator_(Add|Sub|Mul|Div|FloorDiv|Mod|Pow)_(Bit|LShift|RShift)"
)
"""Arithmetic replaced by operators on bits: numbers with a fraction have none, so that
any test would notice.
"""
OPTIONS = (
    *("-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0"),
    # Plugins of pytest are imported before pytest may rewrite them.
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
)
FORK = multiprocessing.get_context("fork")


@dataclass(frozen=True)
class Target:
    """One module and the tests that should notice a change of it."""

    module: str
    tests: list[str] = field(default_factory=list)
    """Those beyond the mirrored ones."""
    equivalent: list[dict[str, str]] = field(default_factory=list)
    """Changes that no test can notice, `LINE -> CHANGED LINE`, each with its reason."""

    def all_tests(self) -> list[str]:
        """Those named, and `test_NAME.py` in the folder of tests that mirrors the
        module's.
        """
        module = Path(self.module)
        root, _, *folders = module.parent.parts
        mirror = Path("tests", root, *folders[:1])
        mirrored = mirror.rglob(f"test_{module.stem.strip('_')}.py")
        return sorted({*map(str, mirrored), *self.tests})


@dataclass
class Found:
    """What became of the mutants of one module."""

    killed: int = 0
    equivalent: int = 0
    survived: list[str] = field(default_factory=list)

    @property
    def is_enough(self) -> bool:
        return self.killed >= WANTED * (self.killed + len(self.survived))

    def row(self, name: str) -> str:
        n = self.killed + len(self.survived)
        share = 100 * self.killed / max(n, 1)
        return f"| `{name}` | {n} | {self.killed} | {share:.0f} % | {self.equivalent} |"


def main() -> int:
    """Test the named modules, or those that changed; the exit code says whether enough
    mutants of each were killed.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--since", help="revision; default: the last release")
    parser.add_argument("modules", nargs="*", help="instead of those that changed")
    asked = parser.parse_args()

    modules = asked.modules or changed(asked.since or last_release())
    rows = tomllib.loads(BEYOND.read_text(encoding="utf-8"))["target"]
    beyond = {row["module"]: Target(**row) for row in rows}
    table = [
        "| module | mutants | killed | share | equivalent |",
        "|---|---|---|---|---|",
    ]
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        tree = copied(Path(folder))
        with contextlib.chdir(tree):
            for module in modules:
                found = run(beyond.get(module, Target(module)))
                failed = failed or not found.is_enough
                table.append(found.row(module))
                print(table[-1], flush=True)
                for change in found.survived:
                    print(f"    survived: {change}", flush=True)

    print("", *table, sep="\n")
    return int(failed)


def last_release() -> str:
    return git("describe", "--tags", "--abbrev=0")[0]


def changed(since: str) -> list[str]:
    """The modules that are other than they were at a revision, or new."""
    files = git("diff", "--name-only", "--diff-filter=d", since, "framework", "plugins")
    return [each for each in files if each.endswith(".py")]


def git(*arguments: str) -> list[str]:
    """The lines that it prints; it explains its errors."""
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    if done.returncode:
        sys.exit("give modules, or a revision with --since")
    return done.stdout.splitlines()


def copied(folder: Path) -> Path:
    """Copy the tree, and make this process run the copy's tests on the copy's code."""
    tree = folder / "tree"
    for part in ("framework", "plugins", "tests", "docs", "examples"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / part, tree / part, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", tree)

    packages = [str(tree / "framework"), str(tree / "plugins")]
    sys.path[:0] = packages
    os.environ["PYTHONPATH"] = os.pathsep.join(packages)
    os.environ["OMP_NUM_THREADS"] = "1"
    # `run` decides when bytecode is written.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    return tree


def run(target: Target) -> Found:
    """Test a sample of a target's mutants; without tests, all survive.

    Raises:
        ValueError: its tests fail without any change, or a line of a change that is
        listed as equivalent is gone.
    """
    module = Path(target.module)
    lines = [line.strip() for line in module.read_text(encoding="utf-8").splitlines()]
    equivalent = [each["change"] for each in target.equivalent]
    for change in equivalent:
        if change.partition(" -> ")[0] not in lines:
            raise ValueError(f"{target.module} has no such line any more: {change}")
    tests = target.all_tests()
    # Tests that always fail would kill every mutant. The second time they start as those
    # of mutants do, with all libraries.
    if tests and not (passes(tests) and passes(tests)):
        raise ValueError(f"{' '.join(tests)}: these tests fail without any change")

    # A second process on the written bytecode of a mutant would test another one.
    sys.dont_write_bytecode = True
    found = Found()
    for mutation in sampled(module, SAMPLE):
        operator = get_operator(mutation.operator_name)()
        with use_mutation(module, operator, mutation.occurrence) as (code, mutant):
            killed = bool(tests) and not passes(tests)
        change = described(code, mutant)
        if killed:
            found.killed += 1
        elif change in equivalent:
            found.equivalent += 1
        else:
            found.survived.append(change)
    sys.dont_write_bytecode = False
    return found


def passes(tests: list[str]) -> bool:
    """Whether the tests pass in a process of their own, which starts with the libraries
    that earlier ones have imported.
    """
    receiving, sending = FORK.Pipe(duplex=False)
    process = FORK.Process(target=test, args=(tests, sending))
    process.start()
    sending.close()
    code, libraries = 1, []
    if receiving.poll(SECONDS):
        with contextlib.suppress(EOFError):
            code, libraries = receiving.recv()
    process.kill()
    process.join()

    for name in libraries:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    return code == 0


def test(tests: list[str], sending: Connection) -> None:
    """Run tests and send their exit code and the libraries that they have imported."""
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
        code = pytest.main([*OPTIONS, *tests])
    libraries = [
        name
        for name, module in list(sys.modules.items())
        if "site-packages" in (getattr(module, "__file__", None) or "")
        and not name.startswith(("gde", "_"))
    ]
    sending.send((int(code), libraries if code == 0 else []))


def sampled(module: Path, size: int) -> list[MutationSpec]:
    """Draw places of a module and one mutant at each, the same every time."""
    with use_db(":memory:", WorkDB.Mode.create) as database:
        init([module], database, {})
        mutations = [item.mutations[0] for item in database.work_items]

    spans = list(declarations(module))
    at_place: dict[tuple[int, int], list[MutationSpec]] = {}
    for each in sorted(mutations, key=lambda one: (one.operator_name, one.occurrence)):
        decides = not any(start <= each.start_pos < end for start, end in spans)
        if decides and not RAISES.search(each.operator_name):
            at_place.setdefault(each.start_pos, []).append(each)

    # Each line has its own random numbers, so that an edit elsewhere changes no draw.
    lines = module.read_text(encoding="utf-8").splitlines()
    drawn = []
    for (row, column), mutants in at_place.items():
        generator = random.Random(f"{SEED} {column} {lines[row - 1]}")
        drawn.append((generator.random(), generator.choice(mutants)))
    drawn.sort(key=lambda each: (each[0], each[1].start_pos))
    chosen = [mutant for _, mutant in drawn[:size]]
    return sorted(chosen, key=lambda each: each.start_pos)


def declarations(module: Path) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Where annotations, decorators and questions for a type checker begin and end, as
    line and column: they decide nothing.
    """
    tree = ast.parse(module.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        found = [
            getattr(node, "annotation", None),
            getattr(node, "returns", None),
            *getattr(node, "decorator_list", []),
        ]
        for each in found:
            if each is not None:
                start = (each.lineno, each.col_offset)
                # Cosmic Ray takes the name behind a decorator's @ for its place.
                if each not in found[:2]:
                    start = (each.lineno, 0)
                yield start, (each.end_lineno, each.end_col_offset)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield (node.lineno, 0), (node.lineno + 1, 0)


def described(code: str, mutant: str) -> str:
    """A mutant as `LINE -> CHANGED LINE`, which stays the same when lines move."""
    lines = zip(code.splitlines(), mutant.splitlines(), strict=True)
    ((before, after),) = [(old, new) for old, new in lines if old != new]
    return f"{before.strip()} -> {after.strip()}"


if __name__ == "__main__":
    sys.exit(main())
