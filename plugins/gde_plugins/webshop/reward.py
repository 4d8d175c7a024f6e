"""The reward of a purchase (Yao et al. 2022, section 3)."""

import re
from collections.abc import Mapping

from rapidfuzz.fuzz import token_set_ratio
from rapidfuzz.utils import default_process

from gde_plugins.webshop.product import Goal, Product

CLOSE = 85
"""Texts with a token set ratio above this, in percent, count as the same."""
EXACT = "size"
"""The option whose values must be equal."""
WORD = re.compile(r"[^\W_]+")
STOP_WORDS = {
    "a",
    "an",
    "and",
    "by",
    "for",
    "from",
    "in",
    "of",
    "on",
    "or",
    "our",
    "the",
    "to",
    "with",
}


def reward(product: Product, chosen: Mapping[str, str], goal: Goal) -> float:
    """Return the share of wants that a purchase meets, times the fit of its kind.

    The wants are attributes, options and the price.

    An attribute is met if an attribute of the product is alike, or if the product's
    pages contain it. An option is met if one of the chosen values is alike. The reward
    is between 0 and 1.
    """
    met = int(product.price <= goal.price)
    prose = product.prose
    for attribute in goal.attributes:
        is_alike = any(alike(attribute, own) for own in product.attributes)
        met += attribute.lower() in prose or is_alike
    for option in goal.options:
        for name, value in chosen.items():
            if value == option if name == EXACT else alike(option, value):
                met += 1
                break

    # The price is one wish more.
    n_wanted = len(goal.attributes) + len(goal.options) + 1
    return kind_fit(product, goal.product) * met / n_wanted


def kind_fit(product: Product, wanted: Product) -> float:
    """Return 1 for the same kind of product, 0.5 for another, 0.1 or 0 if the titles
    share few words or none.

    The original compares the nouns of the titles. This compares all words but numbers
    and stop words.
    """
    words = _words(wanted.title)
    shared = 0.2
    if words:
        shared = len(_words(product.title) & words) / len(words)
    if shared == 0:
        return 0.0
    if shared < 0.1:
        return 0.1

    common = set(product.category) & set(wanted.category)
    is_same = product.query == wanted.query or len(common) >= 2
    return 1.0 if is_same or shared > 0.2 else 0.5


def _words(title: str) -> set[str]:
    words = {word for word in WORD.findall(title.lower()) if not word.isdigit()}
    return words - STOP_WORDS


def alike(a: str, b: str) -> bool:
    """Return whether two texts are close by their sets of words, as in the authors'
    released code.
    """
    return token_set_ratio(a, b, processor=default_process) > CLOSE
