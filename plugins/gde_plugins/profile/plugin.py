"""Offers the profile, and adds `gde profile`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Offer

if TYPE_CHECKING:
    import typer


@hookimpl
def gde_reproductions() -> Sequence[AnyOffer]:
    """What `gde profile` runs."""
    from gde_plugins.profile.config import ProfileConfig

    return (
        Offer(
            name="profile",
            summary="What an agent does, believes, wants and judges, on one page.",
            config=ProfileConfig,
            make="gde_plugins.profile.study:Profile",
        ),
    )


@hookimpl
def gde_add_commands(app: "typer.Typer") -> None:
    """Add the command."""
    from gde_plugins.profile.command import command

    app.command("profile")(command)
