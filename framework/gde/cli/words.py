"""Words of the command line that typer would take, and the user cannot have meant.

Of two values of an option it takes the last, and loses the first unseen. An empty path is the present folder to it.
"""

import re
from typing import Any

import typer
from typer.core import TyperCommand

EMPTY = re.compile("(--[^=]+=)?")
"""A word that is nothing, or an option that is to be nothing."""


class Command(TyperCommand):
    """A command that refuses a second value and an empty word."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parsed as ever, after a look at what was given."""
        if empty := [place for place, word in enumerate(args, 1) if EMPTY.fullmatch(word)]:
            ctx.fail(f"word {empty[0]} after `{ctx.command_path}` is empty: is a variable of the shell not set?")
        given: list[Any] = self.make_parser(ctx).parse_args(args=[*args])[2]
        for param in given:
            if given.count(param) > 1 and not (param.multiple or param.is_flag):
                ctx.fail(f"{param.opts[0]} is given twice and takes one value: {param.help}")
        return super().parse_args(ctx, args)


def look_at_words(app: typer.Typer) -> None:
    """Have all commands of an application be such ones, but those that have a class of their own."""
    for command in app.registered_commands:
        command.cls = Command if command.cls is TyperCommand else command.cls
    for group in app.registered_groups:
        if group.typer_instance is not None:
            look_at_words(group.typer_instance)
