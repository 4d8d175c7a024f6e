"""Suggested searches, and a scripted shopper that fulfils a wish."""

import numpy as np

from gde_plugins.webshop.product import Goal
from gde_plugins.webshop.session import BACK, BUY, NEXT, ON_A_PAGE, Shop, Visit

OTHERS = 4
"""Number of suggestions for kinds of products other than the wanted one."""


def suggestions(shop: Shop, goal: Goal, rng: np.random.Generator) -> tuple[str, ...]:
    """Return searches for this wish, and some for other kinds of products, in random
    order.
    """
    kind = goal.product.query
    searches = [kind]
    for attribute in goal.attributes:
        searches.append(f"{attribute} {kind}")
    searches.append(" ".join([*goal.attributes, kind]))
    searches.append(" ".join([*goal.attributes, *goal.options, kind]))

    # Sorted, because the order of a set differs between processes and the draw depends
    # on it.
    kinds = {product.query for product in shop.catalogue.products.values()}
    other_kinds = sorted(kinds - {kind})
    n_others = min(OTHERS, len(other_kinds))
    searches += rng.choice(other_kinds, n_others, replace=False).tolist()

    unique = list(dict.fromkeys(searches))
    order = rng.permutation(len(unique))
    return tuple(unique[i] for i in order)


def script(
    shop: Shop, goal: Goal, visit: Visit, searches: tuple[str, ...]
) -> list[str]:
    """Return the actions from here to the purchase of the wish's own product.

    They choose the wanted options.

    The shopper takes the search that ranks the product highest. The list is empty if no
    search finds the product, or after a purchase.
    """
    if visit.page == "done":
        return []
    id = goal.product.id
    ranks: dict[str, int] = {}
    for query in searches:
        found = shop.index.search(query)
        if id in found:
            ranks[query] = found.index(id)
    if not ranks:
        return []
    # The result may stand on a later page.
    query = min(ranks, key=ranks.__getitem__)
    n_pages_before = ranks[query] // ON_A_PAGE

    links = [NEXT] * n_pages_before
    links.append(id.lower())
    links += wanted_values(goal).values()
    links.append(BUY)

    actions = [f"search[{query}]"]
    # Only the search page has a search box.
    if visit.page != "search":
        actions.insert(0, f"click[{BACK}]")
    for link in links:
        actions.append(f"click[{link}]")
    return actions


def wanted_values(goal: Goal) -> dict[str, str]:
    """Return the wanted value of each of the product's options that the wish
    mentions.
    """
    wanted: dict[str, str] = {}
    for name, values in goal.product.options.items():
        for value in values:
            if value in goal.options:
                wanted[name] = value
    return wanted
