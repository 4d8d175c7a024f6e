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
        """Dotted names of what is imported: anywhere in the module, also by a function
        that takes its name, or only when it is loaded itself.
        """
        for node in ast.walk(self.tree) if lazy else self.tree.body:
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
            elif isinstance(node, ast.Call) and node.args:
                called = ast.unparse(node.func).rpartition(".")[2]
                if called == "import_module":
                    yield from named_by(node.args[0])
                elif called == "attach_stub":
                    yield from listed_in(self.path.with_suffix(".pyi"), self.name)


def named_by(name: ast.expr) -> Iterator[str]:
    """The modules that a constant names, or an f-string could."""
    match name:
        case ast.Constant(value=str(whole)):
            yield whole
        case ast.JoinedStr(values=[ast.Constant(value=str(start)), *_]):
            yield from (each for each in sources() if each.startswith(start))


def listed_in(stub: Path, package: str) -> Iterator[str]:
    """What a lazy loader's stub lists, from the modules of its package."""
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            inside = package if node.level else ""
            module = ".".join(filter(None, (inside, node.module)))
            yield from (f"{module}.{alias.name}" for alias in node.names)


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
