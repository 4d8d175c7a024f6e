"""The check of offers (`gde.offers`)."""

from collections.abc import Sequence
from dataclasses import is_dataclass

from gde.data.measure import Measure
from gde.offers import AnyOffer, MetricOffer, Offer, ProbeOffer
from gde.request.settings import (
    build,
    describe,
    dump,
    field_docstrings,
    field_names,
    required_fields,
)
from gde.testing.promises import calling, promise, promise_equal


def check_offer(offer: AnyOffer) -> None:
    """Check what a user sees of an offer, without making the part.

    Args:
        offer: the offer.

    Raises:
        AssertionError: a promise is broken.
    """
    promise(isinstance(offer, Offer), f"a plugin must offer an Offer, got {offer!r}")
    name = offer.name
    promise(
        name and not set(name) & set(" :,=.\n"),
        f"an offer's name must be free of blanks, colons, commas, dots and equal signs: {name!r}",
    )
    promise(
        offer.summary and "\n" not in offer.summary,
        f"{name}: the summary must be one line, got {offer.summary!r}",
    )
    promise(
        offer.version >= 1,
        f"{name}: the version must be at least 1, got {offer.version}",
    )
    promise(
        not offer.imports or offer.extra,
        f"{name}: `extra` must say how to install {', '.join(offer.imports)}",
    )
    promise(
        bool(offer.make) != bool(offer.part),
        f"{name}: one of `make` and `part` must say where the part is",
    )
    _check_config(offer)
    if isinstance(offer, ProbeOffer | MetricOffer):
        _check_measures(offer.measures, name)


def _check_measures(measures: Sequence[Measure], owner: str) -> None:
    names = [measure.name for measure in measures]
    promise_equal(
        sorted(set(names)), sorted(names), f"{owner}: a number must be declared once"
    )
    for measure in measures:
        name = f"{owner}: measure {measure.name!r}"
        stars = measure.name.count("*")
        promise(measure.title, f"{name} must have a title")
        promise(stars <= 1, f"{name} must have at most one *")
        promise(
            not measure.phrase
            or (measure.headline and measure.phrase.count("{}") == 1),
            f"{name} must be a headline and have one {{}} in its phrase, got {measure.phrase!r}",
        )
        promise(measure.beside != measure.name, f"{name} must not be beside itself")
        promise(not measure.column or stars, f"{name} must have a * to be a column")


def _check_config(offer: AnyOffer) -> None:
    config = offer.config
    whose = f"{offer.name}: {config.__name__}"
    promise(
        is_dataclass(config) and config.__dataclass_params__.frozen,  # type: ignore[attr-defined]
        f"{whose} must be a frozen dataclass",
    )
    documented = field_docstrings(config)
    undocumented = [field for field in field_names(config) if field not in documented]
    promise(
        not undocumented,
        f"{whose} must have a docstring under {', '.join(undocumented)}",
    )
    calling(lambda: describe(config), f"{whose} must have fields that pydantic knows")
    if not required_fields(config):
        made = build(config, {}, offer.name)
        again = calling(
            lambda: build(config, dump(made), offer.name),
            f"{whose} must have valid defaults",
        )
        promise_equal(
            made, again, f"{whose} must be the same after being saved in a plan"
        )
