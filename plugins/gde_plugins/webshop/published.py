"""The published data of Yao et al. (2022), from a folder of the user."""

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from gde.errors import ConfigError
from gde.seeding import generator
from gde_plugins.webshop.product import Catalogue, Goal, Product

PRODUCTS = "items_shuffle*.json"
ATTRIBUTES = "items_ins_v2*.json"
WISHES = "items_human_ins.json"
NO_PRICE = 100.0
"""Price of a product without one, in dollars, as in the original shop."""
NO_BOUND = 1_000_000.0
"""Upper bound of a wish without one, in dollars."""
AMOUNT = re.compile(r"\$\s*([\d,]+(?:\.\d+)?)")


@lru_cache(maxsize=2)
def published_catalogue(folder: str) -> Catalogue:
    """Read the products and human wishes of a folder.

    Of several files of a kind, the smallest is read.

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
        # Reversed, so that of two rows with one id the first counts, as in the
        # original.
        for row in reversed(rows):
            id = row["asin"]
            products[str(id)] = _product(row, attributes.get(id, {}))
        for id, wishes_of_product in sorted(wishes.items()):
            # The small files hold the wishes of all products, but not all products.
            if id not in products:
                continue
            for wish in wishes_of_product:
                if wish["instruction_attributes"]:
                    goals.append(_goal(products[id], wish))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ConfigError(
            f"env.data: {folder}: wanted the published format, got {error!r}"
        ) from error
    if not goals:
        raise ConfigError(
            f"env.data: wanted a wish in {WISHES} for one of the products of {folder}, got none"
        )
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
    price = NO_PRICE
    listed = AMOUNT.findall(row.get("pricing") or "")
    amounts = [float(each.replace(",", "")) for each in listed[:2]]
    if amounts:
        price = sum(amounts) / len(amounts)

    # The file has a list of features, or one of them as text.
    features = row.get("small_description") or []
    if not isinstance(features, list):
        features = [str(features)]

    categories = row["product_category"].split("\u203a")
    return Product(
        id=str(row["asin"]),
        title=row["name"],
        query=row["query"].lower().strip(),
        category=tuple(each.strip() for each in categories),
        attributes=tuple(attributes.get("attributes", ())),
        options=options,
        price=price,
        description=row.get("full_description") or "",
        features=tuple(features),
    )


def _goal(product: Product, wish: dict[str, Any]) -> Goal:
    """Add a price bound to a wish: one of the next four multiples of ten dollars, drawn
    by a hash of the wish.
    """
    text = wish["instruction"].strip().strip(".")
    rng = generator(0, "webshop", product.id, text)
    tens = int(product.price // 10) + 1 + int(rng.integers(1, 4))
    price = 10.0 * tens

    # As in the original, expensive products have no bound.
    instruction = text
    if price < 1_000:
        instruction = f"{text}, and price lower than {price:.2f} dollars"
    else:
        price = NO_BOUND

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
