"""Parts that cannot work together are refused in one line that says what is wanted,
what is there and what to do.
"""

import pytest

from gde import Capability, Choice, GdeError, NoConfig, Offer, Plan
from gde.data.json import Json
from gde.errors import MissingExtra
from gde.request.catalogue import Catalogue, Entry, load_plugins
from gde.request.check import WHAT, check_parts, lacking
from gde.request.ready import Chosen, Ready
from gde.request.resolve import resolve


def ready(catalogue: Catalogue, **change: object) -> Ready:
    return resolve(
        Plan(
            **{
                "environment": "corridor",
                "agent": "scripted",
                "metrics": ["success"],
                **change,
            }
        ),
        catalogue,
    )


def asking(**config: Json) -> Choice:
    return Choice(name="asking", config=config)


def reading(weights: str) -> Choice:
    return Choice(name="cells", config={"weights": weights})


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    modules = ("gde.testing.plugin", "odd_parts", "served_parts")
    return Catalogue(load_plugins(modules=modules))


class Blind:
    """An environment that knows nothing of itself."""

    reset = step = task = world = close = None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"metrics": ["efficiency"], "environment": "recipe"},
            "efficiency needs an environment with a tabular decis",
        ),
        ({"metrics": ["epic"]}, "^epic needs a reward model; add one$"),
        (
            {"probes": ["where"]},
            "where needs an agent whose language model .*; agent 'scripted' asks no language model$",
        ),
        (
            {"probes": ["where"], "agent": asking(model="blackbox")},
            "where needs an agent .* activations; agent 'asking' with model 'blackbox' gives none$",
        ),
        (
            {"probes": [reading("blackbox")], "agent": asking(model="blackbox")},
            "^cells needs an agent .* activations; 'blackbox' gives none: wanted local we",
        ),
        (
            {
                "probes": [reading("planted"), "where"],
                "agent": asking(model="blackbox"),
            },
            "^where needs an agent .* activations; agent 'asking' with model 'blackbox' gives none$",
        ),
        (
            {"probes": [reading("")], "agent": asking(model="blackbox")},
            "gives none; to read a served model's, give local weights, e.g. hf:PATH_OR_ID$",
        ),
        (
            {"probes": [reading("planted")]},
            "cells needs an agent .*; agent 'scripted' asks no language model$",
        ),
        (
            {"rewards": ["oracle"], "environment": "blind"},
            "^oracle needs an environment .* optimal actions or true rewards; ",
        ),
    ],
)
def test_what_a_part_needs_and_no_other_gives(
    change: dict[str, object], message: str, catalogue: Catalogue
) -> None:
    if change.get("environment") == "blind":
        change = {
            **change,
            "environment": Choice(name="blind", alias="blind", part=Blind),
        }
    with pytest.raises(GdeError, match=message):
        check_parts(ready(catalogue, **change))


@pytest.mark.parametrize(
    "change",
    [
        {"metrics": ["accuracy"]},
        {"metrics": ["accuracy"], "environment": "recipe"},
        {"metrics": ["epic"], "rewards": ["oracle"], "environment": "dictation"},
        {"probes": ["where"], "agent": asking()},
        {"probes": [reading("planted")], "agent": asking(model="served")},
        {
            "probes": ["where"],
            "agent": Choice(name="advised", config={"adviser": "appraising"}),
        },
    ],
    ids=[
        "MDP gives OPTIMUM",
        "OPTIMUM alone",
        "rewards",
        "activations",
        "local weights",
        "two models",
    ],
)
def test_what_is_given_is_enough(
    change: dict[str, object], catalogue: Catalogue
) -> None:
    check_parts(ready(catalogue, **change))


def test_packages_that_are_missing_are_named_with_what_installs_them(
    catalogue: Catalogue,
) -> None:
    with pytest.raises(
        MissingExtra, match=r"needs-absent needs not_there: pip install 'gde-eval\[x\]'"
    ):
        check_parts(ready(catalogue, agent="needs-absent"))


def wanting(*needs: str) -> Chosen:
    offer = Offer(
        name="x",
        summary="s",
        config=NoConfig,
        make=lambda _, __: None,
        needs=frozenset(needs),
    )
    entry = Entry(plugin="p", module="m", offer=offer)
    return Chosen(
        kind="metric",
        choice=Choice(name="x", alias="mine"),
        entry=entry,
        config=NoConfig(),
    )


def test_a_capability_of_a_plugin_is_named_as_it_is(catalogue: Catalogue) -> None:
    reason = lacking(wanting("smell"), ready(catalogue), frozenset())
    assert (
        reason
        == "mine needs a part that gives 'smell'; environment 'corridor' is not one"
    )
    assert lacking(wanting("smell"), ready(catalogue), frozenset({"smell"})) == ""


def test_every_capability_of_the_framework_has_words() -> None:
    assert set(WHAT) >= set(Capability)
