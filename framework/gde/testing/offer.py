"""The check of offers (`gde.offers`)."""

import inspect
from collections.abc import Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from gde.data.measure import Measure
from gde.offers import AnyOffer, MetricOffer, Offer, ProbeOffer
from gde.request.settings import build, describe, dump, field_docstrings
from gde.testing.context import PlainContext
from gde.testing.promises import calling, promise, promise_equal, promise_protocol


def check_offer(
    offer: AnyOffer, protocol: type[Any] | None = None, config: object = None
) -> None:
    """Check what a user sees of an offer and, with a protocol, make the part.

    Args:
        offer: the offer. protocol: the protocol of its kind, e.g. `gde.Agent`; without
        it no part is made. config: the configuration of the part; by default its
        defaults.

    Raises:
        AssertionError: a promise is broken.
    """
    promise(isinstance(offer, Offer), f"a plugin must offer an Offer, got {offer!r}")
    readable = offer.name and not set(offer.name) & set(" :,=.\n")
    promise(
        readable,
        f"an offer's name must be free of blanks, colons, commas, dots and equal signs: {offer.name!r}",
    )
    one_line = offer.summary and "\n" not in offer.summary
    promise(
        one_line, f"{offer.name}: the summary must be one line, got {offer.summary!r}"
    )
    promise(
        offer.version >= 1,
        f"{offer.name}: the version must count from 1, got {offer.version}",
    )
    installable = not offer.imports or offer.extra
    promise(
        installable,
        f"{offer.name}: `extra` must say how to install {', '.join(offer.imports)}",
    )
    _check_config(offer)
    if isinstance(offer, ProbeOffer | MetricOffer):
        _check_measures(offer.measures, offer.name)
    if protocol is not None:
        chosen = config if config is not None else build(offer.config, {}, offer.name)
        promise_protocol(offer.make(chosen, PlainContext()), protocol)


def _check_measures(measures: Sequence[Measure], owner: str) -> None:
    names = [measure.name for measure in measures]
    promise_equal(
        sorted(set(names)), sorted(names), f"{owner}: a number must be declared once"
    )
    for measure in measures:
        name = f"{owner}: measure {measure.name!r}"
        promise(measure.title, f"{name} must have a title")
        promise(measure.name.count("*") <= 1, f"{name} must have at most one *")
        usable = not measure.phrase or (
            measure.headline and measure.phrase.count("{}") == 1
        )
        promise(
            usable,
            f"{name} must be a headline and have one {{}} in its phrase, got {measure.phrase!r}",
        )
        promise(
            measure.beside != measure.name,
            f"{name} must stand beside another number than itself",
        )
        promise(
            not measure.column or "*" in measure.name,
            f"{name} must have a * to be a column of what it stands for",
        )


def _check_config(offer: AnyOffer) -> None:
    config = offer.config
    name = offer.name
    frozen = is_dataclass(config) and config.__dataclass_params__.frozen  # type: ignore[attr-defined]
    promise(
        frozen,
        f"{name}: the configuration must be a frozen dataclass, got {config.__name__}",
    )
    documented = field_docstrings(config)
    # The base class documents inherited fields.
    own = [
        field for field in inspect.get_annotations(config) if not field.startswith("_")
    ]
    undocumented = [field for field in own if field not in documented]
    promise(
        not undocumented,
        f"{name}: a docstring must stand under {config.__name__}.{', '.join(undocumented)}",
    )
    calling(
        lambda: describe(config),
        f"{name}: pydantic must be able to describe {config.__name__}",
    )

    without_default = [
        field
        for field in fields(config)
        if field.default is MISSING and field.default_factory is MISSING
    ]
    if not without_default:
        made = build(config, {}, name)
        again = calling(
            lambda: build(config, dump(made), name),
            f"{name}: defaults of {config.__name__} must be valid",
        )
        promise_equal(
            made,
            again,
            f"{name}: {config.__name__} must survive being written to a plan",
        )
