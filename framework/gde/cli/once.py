"""An option of one value is given once: of two values typer would take the last, and lose the first unseen."""

from typing import Any

import typer
from typer.core import TyperCommand


class Once(TyperCommand):
    """A command that refuses a second value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parsed as ever, after a look at what was given."""
        given: list[Any] = self.make_parser(ctx).parse_args(args=[*args])[2]
        for param in given:
            if given.count(param) > 1 and not (param.multiple or param.is_flag):
                ctx.fail(f"{param.opts[0]} is given twice and takes one value: {param.help}")
        return super().parse_args(ctx, args)


def each_once(app: typer.Typer) -> None:
    """Have all commands of an application be such ones, but those that have a class of their own."""
    for command in app.registered_commands:
        command.cls = Once if command.cls is TyperCommand else command.cls
    for group in app.registered_groups:
        if group.typer_instance is not None:
            each_once(group.typer_instance)
