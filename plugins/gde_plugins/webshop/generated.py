"""A random catalogue and random wishes, from the kinds of products in `kinds.toml`."""

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
    """So many products, evenly over all kinds; a smaller catalogue is the beginning of a larger one."""
    words = tomllib.loads(KINDS.read_text(encoding="utf-8"))
    kinds: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for department in words["department"]:
        kinds.extend((department, kind) for kind in department["kinds"])

    products: dict[str, Product] = {}
    for number in range(n_products):
        department, kind = kinds[number % len(kinds)]
        rng = generator(seed, "webshop", number)
        product = _product(words, department, kind, _id(rng), rng)
        while product.id in products:
            product = _product(words, department, kind, _id(rng), rng)
        products[product.id] = product
    return Catalogue(products=products)


def _id(rng: np.random.Generator) -> str:
    return "G" + "".join(rng.choice([*LETTERS], ID_LENGTH))


def _product(
    words: dict[str, Any], department: dict[str, Any], kind: dict[str, Any], id: str, rng: np.random.Generator
) -> Product:
    attributes = tuple(rng.choice(department["attributes"], int(rng.integers(3, 6)), replace=False).tolist())
    # "shoe size" is the option "size" with the values of shoes.
    options = {name.split()[-1]: _values(words["options"][name], rng) for name in kind["options"]}
    low, high = kind["price"]
    brand = str(rng.choice(words["brands"]))
    phrase = str(rng.choice(words["phrases"]))
    named = attributes[: int(rng.integers(1, 3))]
    return Product(
        id=id,
        title=f"{brand} {kind['name'].title()}, {', '.join(named)}",
        query=kind["name"],
        category=(department["name"], kind["group"], kind["name"].title()),
        attributes=attributes,
        options=options,
        price=round(float(rng.uniform(low, high)), 2),
        description=f"{kind['name'].capitalize()} by {brand}, {phrase}. {' and '.join(attributes).capitalize()}.",
        features=tuple(each.capitalize() for each in attributes),
    )


def _values(values: list[str], rng: np.random.Generator) -> tuple[str, ...]:
    """Some of the values, in their order."""
    kept = sorted(rng.choice(len(values), int(rng.integers(3, len(values) + 1)), replace=False).tolist())
    return tuple(values[i] for i in kept)


def random_goal(catalogue: Catalogue, rng: np.random.Generator) -> Goal:
    """A wish for a random product: some of its attributes, a value of each option, and a price above its own."""
    ids = [*catalogue.products]
    product = catalogue.products[ids[int(rng.integers(len(ids)))]]
    n_wanted = int(rng.integers(2, 4))
    attributes = tuple(rng.choice(product.attributes, n_wanted, replace=False).tolist())
    chosen = {name: str(rng.choice(values)) for name, values in product.options.items()}
    price = 10.0 * (int(product.price // 10) + 1 + int(rng.integers(0, 3)))
    with_options = " and ".join(f"{name} {value}" for name, value in chosen.items())
    wanted = f"{product.query}: {', '.join(attributes)}, in {with_options}"
    return Goal(
        product=product,
        instruction=f"I am looking for {wanted}, for less than {price:.2f} dollars.",
        attributes=attributes,
        options=tuple(chosen.values()),
        price=price,
    )
