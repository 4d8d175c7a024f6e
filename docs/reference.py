"""Writes the reference parts of the documentation from the code: `python docs/reference.py`.

Each page holds one part between two marks; what stands outside them is written by hand. A test compares.
"""

import inspect
import re
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from string import Template
from typing import Any

import typer
from numpy.typing import ArrayLike

import gde
import gde.testing
from gde import hookspecs
from gde.cli.main import build_app
from gde.request.kinds import SKELETONS as KINDS_OF_SKELETONS
from gde.request.settings import field_docstrings

DOCS = Path(__file__).parent
SKELETONS = Path(gde.testing.__file__).parent / "skeletons"
LONG = 100
"""Characters of a signature that stands on one line."""
OURS = ("gde.cli.", "gde_plugins.")
BEGIN, END = "<!-- written by reference.py: begin -->", "<!-- written by reference.py: end -->"


def hooks() -> Iterator[str]:
    """Every hook with its signature and docstring."""
    for name, function in vars(hookspecs).items():
        if hasattr(function, f"{hookspecs.PROJECT}_spec"):
            signature = re.sub(r"['\"]|typing\.", "", str(inspect.signature(function)))
            yield f"### `{name}{signature}`\n\n{inspect.getdoc(function)}\n"


def commands() -> Iterator[str]:
    """Every command of this distribution, with its arguments and options."""
    for name, command in _leaves("gde", typer.main.get_command(build_app())):
        yield f"### `{name}`\n\n{' '.join(command.help.split())}\n"
        rows = [_row(parameter) for parameter in command.params if parameter.name != "help"]
        if rows:
            yield "\n".join(["| argument or option | default | meaning |", "| --- | --- | --- |", *rows]) + "\n"


def _leaves(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    if hasattr(command, "commands"):
        for below in command.commands.values():
            yield from _leaves(f"{name} {below.name}", below)
    elif command.callback.__module__.startswith(OURS):
        yield name, command


def _row(parameter: Any) -> str:
    is_argument = parameter.param_type_name == "argument"
    name = (parameter.metavar or parameter.name.upper()) if is_argument else ", ".join(parameter.opts)
    default = parameter.default
    shown = "" if default in (None, False, ()) or callable(default) or not str(default).strip() else f"`{default}`"
    shown = "required" if parameter.required else shown
    return f"| `{name}` | {shown} | {parameter.help or ''} |"


def names() -> Iterator[str]:
    """Every public name by the module it comes from: signature, docstring, and what each field is."""
    modules: dict[str, list[str]] = {}
    for name, module in sorted(_homes().items()):
        modules.setdefault(module, []).append(_entry(name, getattr(gde, name)))
    for module, entries in sorted(modules.items()):
        yield f"### `{module}`\n\n" + "\n".join(entries)


def _homes() -> dict[str, str]:
    """Public name to the module that it is from, as the stub of the package lists them."""
    stub = Path(gde.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    return {name: f"gde.{module}" for module, name in re.findall(r"^from \.(\S+) import (\w+)", stub, re.MULTILINE)}


def _entry(name: str, thing: Any) -> str:
    lines = [f"#### `{name}`\n"]
    if signature := _signature(name, thing):
        lines.append(f"```text\n{signature}\n```\n")
    lines.append(f"{_text(thing)}\n")
    fields = field_docstrings(thing) if inspect.isclass(thing) else {}
    lines += [f"- `{field}`: {meaning}" for field, meaning in fields.items() if not field.startswith("_")]
    methods = [*_methods(thing)] if inspect.isclass(thing) else []
    lines += [f"- `{name}{signature}`: {text}" for name, signature, text in methods]
    return "\n".join(lines) + ("\n" if fields or methods else "")


def _signature(name: str, thing: Any) -> str:
    """What is called with what, each parameter on a line of its own where there are many."""
    if not (inspect.isfunction(thing) or (inspect.isclass(thing) and hasattr(thing, "__dataclass_fields__"))):
        return ""
    text = _plain(f"{name}{inspect.signature(thing)}")
    if len(text) <= LONG:
        return text
    end = text[text.rindex(")") :]
    return f"{name}(\n    " + ",\n    ".join(_parameters(inspect.signature(thing))) + f",\n{end}"


def _parameters(signature: inspect.Signature) -> Iterator[str]:
    """Each as it is written, and before those that are given by name alone a star."""
    before: inspect._ParameterKind | None = None
    for each in signature.parameters.values():
        if each.kind is each.KEYWORD_ONLY and before not in (each.KEYWORD_ONLY, each.VAR_POSITIONAL):
            yield "*"
        yield _plain(str(each))
        before = each.kind


def _plain(signature: str) -> str:
    """Without what a reader does not need: quotes, homes of types, parts of `ArrayLike`, addresses of defaults."""
    arrays = re.sub(r"\btyping\.", "", str(ArrayLike)).removesuffix("]")
    signature = (
        re.sub(r"\btyping\.", "", signature)
        .replace(f"{arrays}, NoneType]", "ArrayLike | None")
        .replace(f"{arrays}]", "ArrayLike")
    )
    signature = re.sub(r"<factory>|<[^<>]* at 0x[0-9a-f]+>|mappingproxy\(\{\}\)", "...", signature)
    return re.sub(r"['\"]|\b(?:typing|collections\.abc|pathlib|gde(?:\.\w+)+|numpy|types)\.(?=\w)", "", signature)


def _methods(thing: type[Any]) -> Iterator[tuple[str, str, str]]:
    """Public methods and properties that a class has itself, with the first line of their docstrings."""
    for name, member in vars(thing).items():
        function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if name.startswith("_") or not (inspect.isfunction(function) or isinstance(member, property)):
            continue
        signature = "" if isinstance(member, property) else _plain(str(inspect.signature(function)))
        if text := _first_line(member):
            yield name, signature, text


def _text(thing: Any) -> str:
    """The docstring; what it says of arguments and errors as lists."""
    written = inspect.getdoc(thing) or ""
    written = re.sub(r"^(Args|Raises|Returns):\n", r"**\1**\n\n", written, flags=re.MULTILINE)
    written = re.sub(r"^ {8}(?=\S)", "  ", written, flags=re.MULTILINE)
    return re.sub(r"^ {4}(?=\S)", "- ", written, flags=re.MULTILINE)


def _first_line(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").partition("\n\n")[0].replace("\n", " ")


def skeleton(kind: str) -> Iterator[str]:
    """What `gde new-plugin` writes for a kind of part, module and test."""
    for title, name in (("The module", kind), ("Its test", f"{kind}_test")):
        text = (SKELETONS / f"{name}.txt").read_text(encoding="utf-8")
        text = Template(text).substitute(name="mine", dashed="mine")
        yield f"{title}:\n\n```python\n{text}```\n"


def pages() -> Iterator[str]:
    """Every page with its first sentence, for programs that read."""
    for path in sorted(DOCS.rglob("*.md")):
        if path.parent.name != "changelog":
            title, text = _opening(path)
            yield f"- [{title}]({path.relative_to(DOCS).as_posix()}): {text}"


def _opening(path: Path) -> tuple[str, str]:
    title, _, rest = path.read_text(encoding="utf-8").partition("\n")
    paragraph = " ".join(rest.strip().partition("\n\n")[0].split())
    return title.removeprefix("# "), re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", paragraph)


PARTS = {
    "hooks.md": hooks,
    "cli.md": commands,
    "api.md": names,
    **{f"how-to/{kind}.md": partial(skeleton, kind) for kind in KINDS_OF_SKELETONS},
    "llms.txt": pages,
}
"""In this order: the last quotes the pages before it."""


def rendered(page: str) -> str:
    """The page as it must read."""
    before, _, rest = (DOCS / page).read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    return before + BEGIN + "\n\n" + "\n".join(PARTS[page]()) + "\n" + END + after


def main() -> None:
    """Write every page, or with `--check` name the first one that has drifted and fail."""
    for page in PARTS:
        text = rendered(page)
        if "--check" not in sys.argv:
            (DOCS / page).write_text(text, encoding="utf-8")
        elif text != (DOCS / page).read_text(encoding="utf-8"):
            raise SystemExit(f"docs/{page} does not agree with the code: run python docs/reference.py")


if __name__ == "__main__":
    main()
