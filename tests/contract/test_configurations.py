"""What a reader can hold in the head, and what a user can look up."""

import ast
from collections.abc import Iterator
from itertools import pairwise

import pytest
from sources import Source, sources

LONGEST_MODULE, LONGEST_FUNCTION = 350, 60
Function = ast.FunctionDef | ast.AsyncFunctionDef


@pytest.mark.parametrize("source", [*sources().values()], ids=[*sources()])
def test_a_module_is_short(source: Source) -> None:
    lines = len(source.path.read_text(encoding="utf-8").splitlines())
    assert lines <= LONGEST_MODULE, f"{source.name} has {lines} lines"


@pytest.mark.parametrize("source", [*sources().values()], ids=[*sources()])
def test_a_function_is_short(source: Source) -> None:
    for node in ast.walk(source.tree):
        if isinstance(node, Function):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            assert lines <= LONGEST_FUNCTION, f"{source.name}.{node.name} has {lines} lines"


def configurations() -> Iterator[tuple[str, ast.ClassDef]]:
    """Frozen dataclasses whose name ends in Config: what users set."""
    for source in sources().values():
        for node in ast.walk(source.tree):
            if isinstance(node, ast.ClassDef) and node.name.endswith("Config") and node.decorator_list:
                yield f"{source.name}.{node.name}", node


@pytest.mark.parametrize(("name", "node"), [*configurations()], ids=[name for name, _ in configurations()])
def test_a_docstring_stands_under_every_field_of_a_configuration(name: str, node: ast.ClassDef) -> None:
    for field, below in pairwise([*node.body, ast.Pass()]):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            documented = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
            assert documented, f"{name}.{field.target.id} has no docstring under it"


def test_the_configurations_are_found() -> None:
    assert any(name.endswith("GridConfig") for name, _ in configurations())
