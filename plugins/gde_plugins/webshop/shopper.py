"""Suggested searches, and a scripted shopper that fulfils a wish."""

import re

import numpy as np
from rapidfuzz.fuzz import ratio

from gde_plugins.webshop.index import STOP_WORDS
from gde_plugins.webshop.product import Goal
from gde_plugins.webshop.reward import CLOSE, option_likeness
from gde_plugins.webshop.session import BACK, BUY, NEXT, ON_A_PAGE, Shop, Visit

OTHERS = 4
"""Number of suggestions for kinds of products other than the wanted one."""
PRICE = re.compile(r",? and price lower than [\d.]+ dollars$")
BREAK = re.compile(r"[,.;]|\b(?:with|and|that|which|in|for|of)\b")
WORD = re.compile(r"[\w'-]+")
TALK = """
i im i'm am me my we find buy get looking look need want would like please some also
should must has have having can you help show
"""
IDLE = STOP_WORDS | set(TALK.split())
"""Words of a wish that say nothing of the product."""


def suggestions(shop: Shop, goal: Goal, rng: np.random.Generator) -> tuple[str, ...]:
    """Return searches made of the words of this wish, whole and by clause, and some for
    other kinds of products, in random order.
    """
    said = PRICE.sub("", goal.instruction)
    clauses = [said, *BREAK.split(said)]
    searches = [query for query in map(_query, clauses) if query]

    # Sorted, because the order of a set differs between processes and the draw depends
    # on it.
    kinds = {product.query for product in shop.catalogue.products.values()}
    other_kinds = sorted(kinds - {goal.product.query})
    n_others = min(OTHERS, len(other_kinds))
    searches += rng.choice(other_kinds, n_others, replace=False).tolist()

    unique = list(dict.fromkeys(searches))
    order = rng.permutation(len(unique))
    return tuple(unique[i] for i in order)


def _query(text: str) -> str:
    words = WORD.findall(text.lower())
    return " ".join(word for word in words if word not in IDLE)


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
    """Return the value to choose of each option that the wish mentions.

    Human wishes seldom name a value as the shop writes it. So a wanted value stands for
    the most alike of those that the reward counts as the same.
    """
    chosen: dict[str, str] = {}
    for wanted in goal.options:
        likest = (CLOSE, 0.0)
        pick: tuple[str, str] | None = None
        for name, values in goal.product.options.items():
            if name in chosen:
                continue
            for value in values:
                # Values that count the same differ as texts.
                alike = (option_likeness(value, wanted), ratio(value, wanted))
                if alike > likest and alike[0] > CLOSE:
                    likest = alike
                    pick = name, value
        if pick:
            chosen[pick[0]] = pick[1]
    return chosen
