"""Searches that suggest themselves, and a scripted shopper who fulfils a wish."""

import numpy as np

from gde_plugins.webshop.product import Goal
from gde_plugins.webshop.session import BACK, BUY, NEXT, ON_A_PAGE, Shop, Visit

OTHERS = 4
"""Suggestions that have nothing to do with the wish."""


def suggestions(shop: Shop, goal: Goal, rng: np.random.Generator) -> tuple[str, ...]:
    """Searches that a customer with this wish may try, and some for other kinds of products, in random order."""
    kind, wanted = goal.product.query, goal.attributes
    own = [
        kind,
        *(f"{attribute} {kind}" for attribute in wanted),
        f"{' '.join(wanted)} {kind}",
        f"{' '.join((*wanted, *goal.options))} {kind}",
    ]
    kinds = sorted({each.query for each in shop.catalogue.products.values()} - {kind})
    others = rng.choice(kinds, min(OTHERS, len(kinds)), replace=False).tolist()
    found = [*dict.fromkeys([*own, *others])]
    return tuple(found[i] for i in rng.permutation(len(found)))


def script(shop: Shop, goal: Goal, visit: Visit, searches: tuple[str, ...]) -> list[str]:
    """Actions from here to the purchase of the product that the wish was written for, as wanted.

    Of the searches that find it, the one is taken that shows it first. Empty where none finds it, or all is done.
    """
    found = {query: shop.index.search(query) for query in searches}
    ranks = {query: ids.index(goal.product.id) for query, ids in found.items() if goal.product.id in ids}
    if not ranks or visit.page == "done":
        return []
    query = min(ranks, key=ranks.__getitem__)
    back = [] if visit.page == "search" else [f"click[{BACK}]"]
    pages = [f"click[{NEXT}]"] * (ranks[query] // ON_A_PAGE)
    chosen = [f"click[{value}]" for value in wanted_values(goal).values()]
    return [*back, f"search[{query}]", *pages, f"click[{goal.product.id.lower()}]", *chosen, f"click[{BUY}]"]


def wanted_values(goal: Goal) -> dict[str, str]:
    """The options of the product that the wish names a value of."""
    options = goal.product.options.items()
    return {name: value for name, values in options for value in values if value in goal.options}
