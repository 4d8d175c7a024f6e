"""Every setting that a user can change is documented where it is declared."""

import ast
from collections.abc import Iterator
from itertools import pairwise

from sources import sources


def configurations() -> Iterator[tuple[str, ast.ClassDef]]:
    """Frozen dataclasses whose name ends in Config: the settings of a part."""
    for source in sources().values():
        for node in ast.walk(source.tree):
            if (
                isinstance(node, ast.ClassDef)
                and node.name.endswith("Config")
                and node.decorator_list
            ):
                yield f"{source.name}.{node.name}", node


def test_a_docstring_stands_under_every_field_of_a_configuration() -> None:
    undocumented = []
    for name, node in configurations():
        for field, below in pairwise([*node.body, ast.Pass()]):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                documented = isinstance(below, ast.Expr) and isinstance(
                    below.value, ast.Constant
                )
                if not documented:
                    undocumented.append(f"{name}.{field.target.id}")
    assert not undocumented


def test_the_configurations_are_found() -> None:
    assert any(name.endswith("GridConfig") for name, _ in configurations())
