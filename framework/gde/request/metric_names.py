"""Metrics by their own names, or by those of the numbers that they give."""

from gde.offers import MetricOffer
from gde.request.catalogue import Catalogue, Entry


def find_metric(name: str, catalogue: Catalogue) -> Entry:
    """The metric of this name, else the one that declares a number of this name as its measure, else the one whose name
    the number's begins with.

    Raises:
        UnknownName: there is none of them.
    """
    known = catalogue.names("metric")
    if name not in known:
        for entry in catalogue.entries("metric"):
            assert isinstance(entry.offer, MetricOffer)
            if any(measure.matches(name) for measure in entry.offer.measures):
                return entry
    family = name.partition(".")[0]
    return catalogue.find("metric", family if name not in known and family in known else name)
