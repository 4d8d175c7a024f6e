"""Messages name what Python, plan files and the command line share: fields, not options."""

import ast
import re
from collections.abc import Iterator

from sources import ROOT, sources

OPTION = re.compile(r"(?<![\w-])--[a-z]")
SPOKEN = (
    "framework/gde/cli/",
    "framework/gde/reporting/terminal/",
    "framework/gde/testing/",
    "framework/gde/request/building.py",
    "framework/gde/request/settings.py",
    "framework/gde/request/variants.py",
)
"""What only the command line reaches; `--set` is parsed there."""
OTHERS = ("framework/gde/request/provenance.py", "framework/gde/store/schema.py")
"""Options of git, and comments of SQL."""


def texts(tree: ast.Module) -> Iterator[str]:
    """The texts of a module that are no docstrings."""
    docstrings = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node not in docstrings:
            yield str(node.value)


def test_no_message_of_python_names_an_option_of_the_command_line() -> None:
    found = []
    for source in sources().values():
        name = source.path.relative_to(ROOT).as_posix()
        if name.startswith("framework/") and not name.startswith((*SPOKEN, *OTHERS)):
            named = filter(OPTION.search, texts(source.tree))
            found += [f"{name}: {text}" for text in named]
    assert found == []


def test_an_option_is_found_in_a_message_and_not_in_a_docstring() -> None:
    code = 'def f():\n    "Reads --out."\n    raise E(f"{x} exists: choose --out")\n'
    assert [text for text in texts(ast.parse(code)) if OPTION.search(text)] == [
        " exists: choose --out"
    ]
