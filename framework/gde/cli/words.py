"""Words of the command line that typer would take, and the user cannot have meant.

Of two values of an option it takes the last, and loses the first unseen. An empty path is the present folder to it.
"""

from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand


class Command(TyperCommand):
    """A command that refuses a second value and an empty path."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parsed as ever, after a look at what was given."""
        parsed: tuple[Any, Any, list[Any]] = self.make_parser(ctx).parse_args(args=[*args])
        words, _, given = parsed
        for param in given:
            if given.count(param) > 1 and not (param.multiple or param.is_flag):
                ctx.fail(f"{param.opts[0]} is given twice and takes one value: {param.help}")
        rest = super().parse_args(ctx, args)
        for param in given:
            name = param.opts[0] if param.opts[0].startswith("-") else param.metavar or param.name
            if _is_empty_path(words[param.name], ctx.params.get(param.name)):
                ctx.fail(f"{name}: wanted the name of a file or folder, got none")
        return rest


def _is_empty_path(word: Any, value: Any) -> bool:
    """Whether of a word, or several, that were read as paths, one is nothing."""
    several = isinstance(word, list | tuple)
    words, values = (word, value) if several else ([word], [value])
    return any(isinstance(path, Path) and not text.strip() for text, path in zip(words, values, strict=True))


def look_at_words(app: typer.Typer) -> None:
    """Have all commands of an application be such ones, but those that have a class of their own."""
    for command in app.registered_commands:
        command.cls = Command if command.cls is TyperCommand else command.cls
    for group in app.registered_groups:
        if group.typer_instance is not None:
            look_at_words(group.typer_instance)
