"""The reward of a purchase (Yao et al. 2022, section 3), as in the released code."""

from collections.abc import Mapping

from rapidfuzz.fuzz import token_set_ratio
from rapidfuzz.utils import default_process

from gde_plugins.webshop.colors import normalize_color
from gde_plugins.webshop.product import Goal, Product
from gde_plugins.webshop.titles import Nouns, words

CLOSE = 85
"""Texts with a token set ratio above this, in whole percent, count as the same."""


def reward(
    product: Product, chosen: Mapping[str, str], goal: Goal, nouns: Nouns = words
) -> float:
    """Return the share of wants that a purchase meets, times the fit of its kind.

    The wants are attributes, options and the price.

    An attribute is met if an attribute of the product is alike, or if the product's
    title, features or description contain it. An option is met if one of the chosen
    values is alike once colors are normalised. The reward is between 0 and 1.
    """
    met = int(product.price <= goal.price)
    for attribute in goal.attributes:
        is_alike = any(likeness(own, attribute) > CLOSE for own in product.attributes)
        met += is_alike or any(attribute in text for text in product.prose)
    for option in goal.options:
        met += any(option_likeness(value, option) > CLOSE for value in chosen.values())

    # The price is one wish more.
    n_wanted = len(goal.attributes) + len(goal.options) + 1
    return met / n_wanted * kind_fit(product, goal.product, nouns)


def kind_fit(product: Product, wanted: Product, nouns: Nouns = words) -> float:
    """Return 1 for the same kind of product, 0.5 for another, 0.1 or 0 if the titles
    share few nouns or none.
    """
    wanted_nouns = nouns(wanted.title)
    shared = 0.2
    if wanted_nouns:
        common = set(nouns(product.title)) & set(wanted_nouns)
        shared = len(common) / len(wanted_nouns)
    if shared == 0:
        return 0.0
    if shared < 0.1:
        return 0.1

    levels = set(product.category) & set(wanted.category)
    is_same = product.query == wanted.query or len(levels) >= 2
    return 1.0 if is_same or shared > 0.2 else 0.5


def option_likeness(value: str, wanted: str) -> int:
    """Return how alike two values of options are, in percent."""
    return likeness(normalize_color(value), normalize_color(wanted))


def likeness(a: str, b: str) -> int:
    """Return how alike two texts are as sets of words, in whole percent."""
    return round(token_set_ratio(a, b, processor=default_process))
