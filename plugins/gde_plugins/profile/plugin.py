"""Offers the profile."""

from collections.abc import Sequence

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Offer


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
