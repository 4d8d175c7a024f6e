"""Words of the command line that typer accepts and no user means.

Of two values of an option, typer drops the first unseen. It takes an empty path for the
present folder.
"""

from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand


class Command(TyperCommand):
    """A command that refuses a second value of an option and an empty path."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse as typer does, and refuse what no user means."""
        parsed: tuple[Any, Any, list[Any]] = self.make_parser(ctx).parse_args(
            args=[*args]
        )
        words, _, given = parsed
        for param in given:
            if given.count(param) > 1 and not (param.multiple or param.is_flag):
                ctx.fail(
                    f"{param.opts[0]} is given twice and takes one value: {param.help}"
                )

        # Only typed values say which words are paths.
        rest = super().parse_args(ctx, args)
        for param in given:
            if _is_empty_path(words[param.name], ctx.params.get(param.name)):
                is_option = param.opts[0].startswith("-")
                name = param.opts[0] if is_option else param.metavar or param.name
                ctx.fail(f"{name}: wanted the name of a file or folder, got none")
        return rest


def _is_empty_path(word: Any, value: Any) -> bool:
    """Whether a word, or one of several, is empty and was read as a path."""
    if isinstance(word, list | tuple):
        pairs = zip(word, value, strict=True)
        return any(_is_empty_path(text, path) for text, path in pairs)
    return isinstance(value, Path) and not word.strip()


def look_at_words(app: typer.Typer) -> None:
    """Make every command without a class of its own a `Command`."""
    for command in app.registered_commands:
        if command.cls is TyperCommand:
            command.cls = Command
    for group in app.registered_groups:
        if group.typer_instance is not None:
            look_at_words(group.typer_instance)
