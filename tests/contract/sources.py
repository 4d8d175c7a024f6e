"""The source files of the project, parsed."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOTS = (ROOT / "framework", ROOT / "plugins")


@dataclass(frozen=True)
class Source:
    """One module."""

    name: str
    """Dotted; a package without its `__init__`."""
    path: Path
    tree: ast.Module

    def imports(self, lazy: bool = True) -> Iterator[str]:
        """Dotted names of what is imported: anywhere in the module, or only when it is
        loaded itself.
        """
        for node in ast.walk(self.tree) if lazy else self.tree.body:
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def sources() -> dict[str, Source]:
    """Every module of `gde` and `gde_plugins` by name."""
    found = {}
    for root in ROOTS:
        for path in sorted(root.rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = Source(
                name, path, ast.parse(path.read_text(encoding="utf-8"))
            )
    return found


def module_of(imported: str) -> str | None:
    """The project's module that an import reaches; None for what is not the
    project's.
    """
    parts = imported.split(".")
    names = [".".join(parts[:n]) for n in range(len(parts), 0, -1)]
    return next((name for name in names if name in sources()), None)
