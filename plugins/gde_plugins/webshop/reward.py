"""What a purchase is worth to a customer (Yao et al. 2022, section 3)."""

import re
from collections.abc import Mapping

from rapidfuzz.fuzz import token_set_ratio
from rapidfuzz.utils import default_process

from gde_plugins.webshop.product import Goal, Product

CLOSE = 85
"""Texts with a token set ratio above this, in percent, count as the same."""
EXACT = "size"
"""The option whose values must be the same."""
WORD = re.compile(r"[^\W_]+")
STOP_WORDS = frozenset({"a", "an", "and", "by", "for", "from", "in", "of", "on", "or", "our", "the", "to", "with"})


def reward(product: Product, chosen: Mapping[str, str], goal: Goal) -> float:
    """The share of wanted attributes, options and price that a purchase has, times how well its kind fits; 0 to 1.

    An attribute is there when one of the product's is much alike, or when it is said anywhere on its pages; an option
    when one of the chosen values is much alike.
    """
    prose = product.prose
    attributes = sum(
        any(alike(wanted, has) for has in product.attributes) or wanted.lower() in prose for wanted in goal.attributes
    )
    options = sum(any(_has(name, value, wanted) for name, value in chosen.items()) for wanted in goal.options)
    affordable = product.price <= goal.price
    met = attributes + options + affordable
    return kind_fit(product, goal.product) * met / (len(goal.attributes) + len(goal.options) + 1)


def _has(option: str, value: str, wanted: str) -> bool:
    return value == wanted if option == EXACT else alike(wanted, value)


def kind_fit(product: Product, wanted: Product) -> float:
    """1 for the same kind of product, 0.5 for another, 0.1 and 0 where the titles have little or nothing in common.

    Where the original takes the nouns of a title, this takes all of its words but numbers and stop words.
    """
    words, of = _words(product.title), _words(wanted.title)
    shared = len(words & of) / len(of) if of else 0.2
    if shared < 0.1:
        return 0.1 if shared else 0.0
    same = product.query == wanted.query or len({*product.category} & {*wanted.category}) >= 2
    return 1.0 if same or shared > 0.2 else 0.5


def _words(title: str) -> set[str]:
    return {word for word in WORD.findall(title.lower()) if not word.isdigit()} - STOP_WORDS


def alike(a: str, b: str) -> bool:
    """Whether two texts are close by their sets of words, as in the authors' released code."""
    return token_set_ratio(a, b, processor=default_process) > CLOSE
