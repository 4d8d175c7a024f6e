"""What a purchase is worth."""

from dataclasses import replace

import pytest

from gde_plugins.webshop.product import Goal, Product
from gde_plugins.webshop.reward import alike, kind_fit, reward

BOTTLE = Product(
    id="G1",
    title="Alderholm Water Bottle, leak proof",
    query="water bottle",
    category=("Home", "Drinkware", "Water Bottle"),
    attributes=("leak proof", "bpa free"),
    options={"color": ("black", "teal"), "size": ("12 fl oz", "16 fl oz")},
    price=18.5,
    description="Stays cold, dishwasher safe.",
)
GOAL = Goal(
    product=BOTTLE,
    instruction="",
    attributes=("leak proof", "bpa free"),
    options=("teal", "16 fl oz"),
    price=20,
)
FULL = {"color": "teal", "size": "16 fl oz"}


def test_what_is_wanted_is_worth_all() -> None:
    assert reward(BOTTLE, FULL, GOAL) == 1


@pytest.mark.parametrize(
    ("product", "chosen", "worth"),
    [
        (BOTTLE, {}, 3 / 5),
        (BOTTLE, {"color": "teal"}, 4 / 5),
        (BOTTLE, {"color": "black", "size": "12 fl oz"}, 3 / 5),
        (replace(BOTTLE, price=20.01), FULL, 4 / 5),
        (
            replace(BOTTLE, attributes=("bpa free",)),
            FULL,
            1,
        ),  # the title says the other
        (
            replace(BOTTLE, title="Alderholm Water Bottle", attributes=("bpa free",)),
            FULL,
            4 / 5,
        ),
        (
            replace(BOTTLE, title="Garrow Rug", query="rug", category=("Decor",)),
            FULL,
            0,
        ),
        (
            replace(BOTTLE, title="Alderholm Rug", query="rug", category=("Decor",)),
            FULL,
            0.5,
        ),
    ],
    ids=[
        "nothing chosen",
        "one",
        "others",
        "too dear",
        "in the title",
        "not there",
        "another kind",
        "same brand",
    ],
)
def test_what_is_missing_costs_its_share(
    product: Product, chosen: dict[str, str], worth: float
) -> None:
    assert reward(product, chosen, GOAL) == pytest.approx(worth)


def test_kinds_fit_by_register_category_or_title() -> None:
    other = replace(BOTTLE, title="Alderholm Rug", query="rug", category=("Decor",))
    assert kind_fit(BOTTLE, BOTTLE) == 1
    assert kind_fit(other, BOTTLE) == 0.5
    assert kind_fit(replace(other, category=("Home", "Drinkware")), BOTTLE) == 1
    assert kind_fit(replace(other, title="Water Bottle"), BOTTLE) == 1
    long = replace(BOTTLE, title=" ".join(f"word{c}" for c in "abcdefghijkl"))
    assert kind_fit(replace(other, title="worda"), long) == 0.1


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("leak proof", "proof, leak", True),
        ("machine washable", "machine washable cotton", True),
        ("12 fl oz", "16 fl oz", True),
        ("medium", "x-medium", True),
        ("black", "teal", False),
        ("", "teal", False),
        ("stainless steel body", "stainless steel bodys", True),
    ],
)
def test_likeness_is_of_sets_of_words(a: str, b: str, same: bool) -> None:
    assert alike(a, b) is alike(b, a) is same
