"""Second values of options, of which typer drops the first unseen."""

from typing import Any

import typer
from typer.core import TyperCommand


class Command(TyperCommand):
    """A command that refuses a second value of an option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse as typer does, and refuse a second value."""
        param: Any
        _, _, given = self.make_parser(ctx).parse_args(args=[*args])
        for param in given:
            if given.count(param) > 1 and not (param.multiple or param.is_flag):
                ctx.fail(
                    f"{param.opts[0]} is given twice and takes one value: {param.help}"
                )

        return super().parse_args(ctx, args)


def look_at_words(app: typer.Typer) -> None:
    """Make every command without a class of its own a `Command`."""
    for command in app.registered_commands:
        if command.cls is TyperCommand:
            command.cls = Command
    for group in app.registered_groups:
        if group.typer_instance is not None:
            look_at_words(group.typer_instance)
