"""Offers the profile."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Offer

if TYPE_CHECKING:
    from gde.parts.context import Context
    from gde_plugins.profile.config import ProfileConfig


@hookimpl
def gde_reproductions() -> Sequence[AnyOffer]:
    """What `gde profile` runs."""
    from gde_plugins.profile.config import ProfileConfig

    return (
        Offer(
            name="profile",
            summary="What an agent does, believes, wants and judges, on one page.",
            config=ProfileConfig,
            make=_profile,
        ),
    )


def _profile(config: "ProfileConfig", _: "Context") -> object:
    from gde_plugins.profile.study import Profile

    return Profile(config)
