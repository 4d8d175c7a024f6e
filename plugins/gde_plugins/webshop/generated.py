"""A random catalogue and random wishes, from the product kinds in `kinds.toml`."""

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from gde.seeding import generator
from gde_plugins.webshop.product import Catalogue, Goal, Product

KINDS = Path(__file__).with_name("kinds.toml")
LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
ID_LENGTH = 8


@lru_cache(maxsize=4)
def generated_catalogue(n_products: int, seed: int) -> Catalogue:
    """Make random products, evenly over all kinds.

    A smaller catalogue is the beginning of a larger one.
    """
    words = tomllib.loads(KINDS.read_text(encoding="utf-8"))
    kinds = []
    for department in words["department"]:
        for kind in department["kinds"]:
            kinds.append((words, department, kind))

    products: dict[str, Product] = {}
    for number in range(n_products):
        rng = generator(seed, "webshop", number)
        product = _product(*kinds[number % len(kinds)], rng)
        # Ids are random, so two products may draw the same one.
        while product.id in products:
            product = _product(*kinds[number % len(kinds)], rng)
        products[product.id] = product
    return Catalogue(products=products)


def _product(
    words: dict[str, Any],
    department: dict[str, Any],
    kind: dict[str, Any],
    rng: np.random.Generator,
) -> Product:
    # The order of the draws is part of the catalogue of a seed.
    letters = rng.choice([*LETTERS], ID_LENGTH)
    n_attributes = int(rng.integers(3, 6))
    attributes = rng.choice(
        department["attributes"], n_attributes, replace=False
    ).tolist()
    options = {}
    for name in kind["options"]:
        # "shoe size" is the option "size" with the values of shoes.
        shown = name.split()[-1]
        options[shown] = _values(words["options"][name], rng)
    brand = str(rng.choice(words["brands"]))
    phrase = str(rng.choice(words["phrases"]))
    n_named = int(rng.integers(1, 3))
    low, high = kind["price"]
    price = round(float(rng.uniform(low, high)), 2)

    name = kind["name"]
    named = ", ".join(attributes[:n_named])
    listed = " and ".join(attributes)
    return Product(
        id="G" + "".join(letters),
        title=f"{brand} {name.title()}, {named}",
        query=name,
        category=(department["name"], kind["group"], name.title()),
        attributes=tuple(attributes),
        options=options,
        price=price,
        description=f"{name.capitalize()} by {brand}, {phrase}. {listed.capitalize()}.",
        features=tuple(each.capitalize() for each in attributes),
    )


def _values(values: list[str], rng: np.random.Generator) -> tuple[str, ...]:
    """Draw some of the values, in their order."""
    n_kept = int(rng.integers(3, len(values) + 1))
    kept = rng.choice(len(values), n_kept, replace=False).tolist()
    return tuple(values[i] for i in sorted(kept))


def random_goal(catalogue: Catalogue, rng: np.random.Generator) -> Goal:
    """Draw a wish for a random product.

    It has some of its attributes, a value of each option, and a price above its own.
    """
    ids = [*catalogue.products]
    id = ids[int(rng.integers(len(ids)))]
    product = catalogue.products[id]
    n_wanted = int(rng.integers(2, 4))
    attributes = rng.choice(product.attributes, n_wanted, replace=False).tolist()
    options = {
        name: str(rng.choice(values)) for name, values in product.options.items()
    }

    # The next multiple of ten above the price, or up to 20 dollars more.
    tens = int(product.price // 10) + 1 + int(rng.integers(0, 3))
    price = 10.0 * tens

    with_options = " and ".join(f"{name} {value}" for name, value in options.items())
    wanted = f"{product.query}: {', '.join(attributes)}, in {with_options}"
    return Goal(
        product=product,
        instruction=f"I am looking for {wanted}, for less than {price:.2f} dollars.",
        attributes=tuple(attributes),
        options=tuple(options.values()),
        price=price,
    )
