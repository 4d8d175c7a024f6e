"""Parts by name: of an offer, of a group, of a number that a metric gives."""

import pytest

from gde import UnknownName
from gde.request.catalogue import Catalogue
from gde.request.kinds import KINDS


@pytest.mark.parametrize(
    ("measurement", "metric"),
    [
        ("policy", "policy"),
        ("policy.jsd", "policy"),
        ("accuracy.pooled", "accuracy"),
        ("keys.pickup", "keys"),
    ],
)
def test_a_measurement_belongs_to_the_metric_that_gives_it(
    catalogue: Catalogue, measurement: str, metric: str
) -> None:
    assert catalogue.find_metric(measurement).offer.name == metric


def test_a_measurement_of_nobodys_is_unknown(catalogue: Catalogue) -> None:
    with pytest.raises(UnknownName, match=r"unknown metric 'nobody\.knows'"):
        catalogue.find_metric("nobody.knows")


def test_every_kind_has_a_hook(catalogue: Catalogue) -> None:
    for kind in KINDS.values():
        assert hasattr(catalogue.plugins.manager.hook, kind.hook)


def test_offers_know_their_distribution(catalogue: Catalogue) -> None:
    assert catalogue.find("environment", "grid").distribution == "gde-eval"
    assert catalogue.find("environment", "trapdoor").distribution == "odd_parts"
