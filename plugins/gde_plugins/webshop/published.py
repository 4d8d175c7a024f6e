"""The published data of Yao et al. (2022), from a folder of the user."""

import json
import random
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from gde.errors import ConfigError
from gde.seeding import generator
from gde_plugins.webshop.product import Catalogue, Goal, Product, bounded

PRODUCTS = "items_shuffle*.json"
ATTRIBUTES = "items_ins_v2*.json"
WISHES = "items_human_ins.json"
NO_PRICE = 100.0
"""Price of a product without one, in dollars, as in the released code."""
ID_LENGTH = 10
"""Rows with longer ids are left out, as in the released code."""
ORDER = 233
"""Seed of the released code for the order of wishes: the first 500 are its test."""
NOT_IN_A_NUMBER = re.compile(r"[^\d.]")


@lru_cache(maxsize=2)
def published_catalogue(folder: str) -> Catalogue:
    """Read the products and human wishes of a folder.

    Of several files of a kind, the smallest is read. Wishes are in the released order.

    A product with a range of prices costs the middle of it; the original draws a number
    when it starts.

    Raises:
        ConfigError: a file is missing, cut off, or something else.
    """
    rows = _read(Path(folder), PRODUCTS)
    attributes = _read(Path(folder), ATTRIBUTES)
    wishes = _read(Path(folder), WISHES)
    products: dict[str, Product] = {}
    goals: list[Goal] = []
    try:
        for row in rows:
            id = row["asin"]
            # Of two rows with one id the first counts.
            if id == "nan" or len(id) > ID_LENGTH or id in products:
                continue
            product = _product(row, attributes.get(id, {}))
            products[id] = product
            for wish in wishes.get(id, ()):
                if wish["instruction_attributes"]:
                    goals.append(_goal(product, wish))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ConfigError(
            f"env.data: {folder}: wanted the published format, got {error!r}"
        ) from error
    if not goals:
        raise ConfigError(
            f"env.data: wanted a wish in {WISHES} for one of the products of {folder}, got none"
        )
    random.Random(ORDER).shuffle(goals)
    return Catalogue(products=products, goals=tuple(goals))


def _read(folder: Path, pattern: str) -> Any:
    found = sorted(
        folder.glob(pattern), key=lambda path: (path.stat().st_size, path.name)
    )
    if not found:
        raise ConfigError(f"env.data: wanted {pattern} in {folder}, got no such file")
    try:
        return json.loads(found[0].read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigError(f"env.data: {found[0]}: wanted JSON, got {error}") from error


def _product(row: dict[str, Any], attributes: dict[str, Any]) -> Product:
    options: dict[str, tuple[str, ...]] = {}
    for name, values in (row.get("customization_options") or {}).items():
        if values:
            # Values are written as in the original shop.
            texts = [
                value["value"].strip().replace("/", " | ").lower() for value in values
            ]
            options[name.lower()] = tuple(dict.fromkeys(texts))

    # One amount is the price, two are a range.
    amounts = []
    for amount in (row.get("pricing") or "").split("$")[1:3]:
        amounts.append(float(NOT_IN_A_NUMBER.sub("", amount)))
    amounts = amounts or [NO_PRICE]

    # The file has a list of features, or one of them as text.
    features = row.get("small_description") or []
    if not isinstance(features, list):
        features = [str(features)]

    categories = row["product_category"].split("\u203a")
    return Product(
        id=row["asin"],
        title=row["name"],
        query=row["query"].lower().strip(),
        category=tuple(each.strip() for each in categories),
        attributes=tuple(attributes.get("attributes", ())),
        options=options,
        price=sum(amounts) / len(amounts),
        price_tag=" to ".join(f"${amount}" for amount in amounts),
        description=row.get("full_description") or "",
        features=tuple(features),
    )


def _goal(product: Product, wish: dict[str, Any]) -> Goal:
    text = wish["instruction"].strip(".")
    # Drawn by a hash of the wish; the original draws another bound at every start.
    rng = generator(0, "webshop", product.id, text)
    instruction, price = bounded(text, product.price, rng)

    options = wish["instruction_options"]
    if isinstance(options, dict):
        options = options.values()
    return Goal(
        product=product,
        instruction=instruction,
        attributes=tuple(wish["instruction_attributes"]),
        options=tuple(options),
        price=price,
    )
