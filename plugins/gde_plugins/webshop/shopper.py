"""Suggested searches, and a scripted shopper who fulfils a wish."""

import numpy as np

from gde_plugins.webshop.product import Goal
from gde_plugins.webshop.session import BACK, BUY, NEXT, ON_A_PAGE, Shop, Visit

OTHERS = 4
"""Suggestions for other kinds of products than the wanted one."""


def suggestions(shop: Shop, goal: Goal, rng: np.random.Generator) -> tuple[str, ...]:
    """Searches that a customer with this wish may try, and some for other kinds of products, in random order."""
    kind = goal.product.query
    searches = [kind, *(f"{attribute} {kind}" for attribute in goal.attributes)]
    searches.append(f"{' '.join(goal.attributes)} {kind}")
    searches.append(f"{' '.join((*goal.attributes, *goal.options))} {kind}")

    other_kinds = sorted({each.query for each in shop.catalogue.products.values()} - {kind})
    searches += rng.choice(other_kinds, min(OTHERS, len(other_kinds)), replace=False).tolist()
    unique = list(dict.fromkeys(searches))
    return tuple(unique[i] for i in rng.permutation(len(unique)))


def script(shop: Shop, goal: Goal, visit: Visit, searches: tuple[str, ...]) -> list[str]:
    """Actions from here to the purchase of the product that the wish was written for, with the wanted options.

    The shopper takes the search that ranks the product highest. Empty where no search finds it, or after a purchase.
    """
    if visit.page == "done":
        return []
    ranks: dict[str, int] = {}
    for query in searches:
        found = shop.index.search(query)
        if goal.product.id in found:
            ranks[query] = found.index(goal.product.id)
    if not ranks:
        return []

    query = min(ranks, key=ranks.__getitem__)
    actions = [] if visit.page == "search" else [f"click[{BACK}]"]
    actions.append(f"search[{query}]")
    actions += [f"click[{NEXT}]"] * (ranks[query] // ON_A_PAGE)
    actions.append(f"click[{goal.product.id.lower()}]")
    for value in wanted_values(goal).values():
        actions.append(f"click[{value}]")
    actions.append(f"click[{BUY}]")
    return actions


def wanted_values(goal: Goal) -> dict[str, str]:
    """The product's options that the wish names a value of, each with that value."""
    wanted: dict[str, str] = {}
    for name, values in goal.product.options.items():
        for value in values:
            if value in goal.options:
                wanted[name] = value
    return wanted
