"""The published data of Yao et al. (2022), from a folder of the user's."""

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
"""Dollars of a product without a price, as in the original shop."""
NO_BOUND = 1_000_000.0
"""Dollars of a wish without an upper bound."""
AMOUNT = re.compile(r"\$\s*([\d,]+(?:\.\d+)?)")


@lru_cache(maxsize=2)
def published_catalogue(folder: str) -> Catalogue:
    """Read the products and human wishes of a folder; of several files of a kind, the smallest.

    A product with a range of prices costs the middle of it; the original draws a number when it starts.

    Raises:
        ConfigError: a file is missing, cut off, or something else.
    """
    rows = _read(Path(folder), PRODUCTS)
    attributes = _read(Path(folder), ATTRIBUTES)
    wishes = _read(Path(folder), WISHES)
    products: dict[str, Product] = {}
    goals: list[Goal] = []
    try:
        # Reversed, so that of two rows with one id the first counts, as in the original.
        for row in reversed(rows):
            products[str(row["asin"])] = _product(row, attributes.get(row["asin"], {}))
        for id, wishes_of_product in sorted(wishes.items()):
            if id not in products:
                continue
            complete = [wish for wish in wishes_of_product if wish["instruction_attributes"]]
            goals.extend(_goal(products[id], wish) for wish in complete)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ConfigError(f"env.data: {folder}: wanted the published format, got {error!r}") from error
    if not goals:
        raise ConfigError(f"env.data: wanted a wish in {WISHES} for one of the products of {folder}, got none")
    return Catalogue(products=products, goals=tuple(goals))


def _read(folder: Path, pattern: str) -> Any:
    found = sorted(folder.glob(pattern), key=lambda path: (path.stat().st_size, path.name))
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
            texts = [value["value"].strip().replace("/", " | ").lower() for value in values]
            options[name.lower()] = tuple(dict.fromkeys(texts))

    # One amount is the price, two are a range.
    amounts = [float(each.replace(",", "")) for each in AMOUNT.findall(row.get("pricing") or "")][:2]
    bullets = row.get("small_description") or []
    return Product(
        id=str(row["asin"]),
        title=row["name"],
        query=row["query"].lower().strip(),
        category=tuple(each.strip() for each in row["product_category"].split("\u203a")),
        attributes=tuple(attributes.get("attributes", ())),
        options=options,
        price=sum(amounts) / len(amounts) if amounts else NO_PRICE,
        description=row.get("full_description") or "",
        features=tuple(bullets) if isinstance(bullets, list) else (str(bullets),),
    )


def _goal(product: Product, wish: dict[str, Any]) -> Goal:
    """The wish with a price bound, one of the next four multiples of ten dollars, drawn by a hash of the wish."""
    options = wish["instruction_options"]
    text = wish["instruction"].strip().strip(".")
    steps = int(generator(0, "webshop", product.id, text).integers(1, 4))
    price = 10.0 * (int(product.price // 10) + 1 + steps)
    bounded = price < 1_000
    return Goal(
        product=product,
        instruction=f"{text}, and price lower than {price:.2f} dollars" if bounded else text,
        attributes=tuple(wish["instruction_attributes"]),
        options=tuple(options.values() if isinstance(options, dict) else options),
        price=price if bounded else NO_BOUND,
    )
