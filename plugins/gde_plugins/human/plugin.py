"""Offers the human agent and the command that plays as one."""

from collections.abc import Sequence

import typer

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, NoConfig, Offer


@hookimpl
def gde_agents() -> Sequence[AnyOffer]:
    """A person at the terminal."""
    return (
        Offer(
            name="human",
            summary="a person chooses every action at the terminal (`gde play`)",
            config=NoConfig,
            make="gde_plugins.human.agent:HumanAgent",
        ),
    )


@hookimpl
def gde_add_commands(app: typer.Typer) -> None:
    """Add `gde play`."""
    from gde_plugins.human.command import command

    app.command("play")(command)
