"""A random catalogue of the published shape, from the product kinds in `kinds.toml`.

Every attribute of a product stands in one text of it alone: its title, a feature or the
description. Products come in families of one brand, kind and title. The siblings have
another attribute each, say something near to the one that they lack, and differ in
options and price.
"""

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from gde.seeding import generator, pick
from gde_plugins.webshop.product import Catalogue, Goal, Product, bounded

KINDS = Path(__file__).with_name("kinds.toml")
LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
ID_LENGTH = 9
FAMILY = 4
"""Number of products of a family."""
N_ATTRIBUTES = (3, 6)
"""Least number of attributes of a product, and one more than the most."""
N_WANTED = (2, 4)
"""Likewise, of the attributes that a wish names."""


@lru_cache(maxsize=4)
def generated_catalogue(n_products: int, seed: int) -> Catalogue:
    """Make random products, evenly over all kinds.

    A smaller catalogue is the beginning of a larger one.
    """
    words = tomllib.loads(KINDS.read_text(encoding="utf-8"))
    kinds = []
    for department in words["department"]:
        for kind in department["kinds"]:
            kinds.append((department, kind))

    products: dict[str, Product] = {}
    for number in range(n_products):
        of_kind, place = divmod(number, len(kinds))
        family, sibling = divmod(of_kind, FAMILY)
        shared = generator(seed, "webshop", "family", place, family)
        own = generator(seed, "webshop", number)
        product = _product(words, *kinds[place], sibling, shared, own)
        # Ids are random, so two products may draw the same one.
        while product.id in products:
            shared = generator(seed, "webshop", "family", place, family)
            product = _product(words, *kinds[place], sibling, shared, own)
        products[product.id] = product
    return Catalogue(products=products)


def _product(
    words: dict[str, Any],
    department: dict[str, Any],
    kind: dict[str, Any],
    sibling: int,
    shared: np.random.Generator,
    own: np.random.Generator,
) -> Product:
    """Draw what a family shares, then what is a product's own.

    The order of the draws is part of the catalogue of a seed.
    """
    brand = str(shared.choice(words["brands"]))
    order = shared.permutation(department["attributes"]).tolist()
    n_attributes = int(shared.integers(*N_ATTRIBUTES))
    n_titled = int(shared.integers(0, 2))
    attributes = order[:n_attributes]
    lacking = order[n_attributes : n_attributes + 1]
    if sibling:
        # Never the titled one: siblings have one title.
        place = 1 + (sibling - 1) % (n_attributes - 1)
        lacking = [attributes[place]]
        attributes[place] = order[n_attributes + sibling - 1]

    letters = own.choice([*LETTERS], ID_LENGTH)
    options = {}
    for name in kind["options"]:
        # "shoe size" is the option "size" with the values of shoes.
        shown = name.split()[-1]
        options[shown] = _values(words["options"][name], own)
    low, high = kind["price"]
    price = round(float(own.uniform(low, high)), 2)
    phrase = str(own.choice(words["phrases"]))

    titled = attributes[:n_titled]
    told = attributes[n_titled:] + [words["near"][each] for each in lacking]
    told = own.permutation(told).tolist()
    n_features = int(own.integers(1, len(told)))
    features = [f"{each.capitalize()}, {phrase}." for each in told[:n_features]]
    described = " and ".join(told[n_features:])

    name = kind["name"]
    return Product(
        id="B" + "".join(letters),
        title=", ".join([f"{brand} {name.title()}", *titled]),
        query=name,
        category=(department["name"], kind["group"], name.title()),
        attributes=tuple(attributes),
        options=options,
        price=price,
        price_tag=f"${price}",
        description=f"{name.capitalize()} by {brand}: {described}.",
        features=tuple(features),
    )


def _values(values: list[str], rng: np.random.Generator) -> tuple[str, ...]:
    """Draw some of the values, in their order."""
    n_kept = int(rng.integers(3, len(values) + 1))
    kept = rng.choice(len(values), n_kept, replace=False).tolist()
    return tuple(values[i] for i in sorted(kept))


def random_goal(catalogue: Catalogue, rng: np.random.Generator) -> Goal:
    """Draw a wish for a random product, in the words of the released synthetic goals.

    It has some of its attributes, a value of each option, and a price above its own.
    """
    ids = [*catalogue.products]
    id = pick(ids, rng)
    product = catalogue.products[id]
    n_wanted = int(rng.integers(*N_WANTED))
    attributes = rng.choice(product.attributes, n_wanted, replace=False).tolist()
    options = {
        name: str(rng.choice(values)) for name, values in product.options.items()
    }

    wanted = f"Find me {', '.join(attributes)} {product.query}"
    values = ", and ".join(f"{name}: {value}" for name, value in options.items())
    instruction, price = bounded(f"{wanted} with {values}", product.price, rng)
    return Goal(
        product=product,
        instruction=instruction,
        attributes=tuple(attributes),
        options=tuple(options.values()),
        price=price,
    )
