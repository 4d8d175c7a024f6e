"""The published data of Yao et al. (2022), from a folder of the user."""

import random
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, ValidationError

from gde.errors import ConfigError
from gde.foreign import Account, ForeignFile, fault, shown
from gde.seeding import generator
from gde_plugins.webshop.product import Catalogue, Goal, Product, bounded

T = TypeVar("T")
LeftOut = list[tuple[str, str]]
"""Reason and id."""
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
PLAIN = re.compile(r"\s*(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?\s*)?", re.ASCII)
"""A price without a sign, or none."""


def _amounts(pricing: object) -> list[float]:
    """The price, or both ends of its range; empty where there is none."""
    text = "" if pricing is None else str(pricing)
    if "$" not in text:
        if not PLAIN.fullmatch(text):
            raise ValueError("an amount of dollars")
        text = f"${text}" if text.strip() else ""
    # As in the released code: an amount follows each sign.
    return [float(NOT_IN_A_NUMBER.sub("", each)) for each in text.split("$")[1:3]]


class _Value(BaseModel):
    value: str


class _Row(BaseModel):
    """A product, as far as it is read. The optional fields may be null."""

    asin: str
    name: str
    query: str
    product_category: str
    pricing: Annotated[list[float], BeforeValidator(_amounts)] = []
    full_description: str | None = None
    small_description: list[str] | str | None = None
    customization_options: Annotated[
        dict[str, list[_Value] | None] | None,
        BeforeValidator(lambda told: told or None),
    ] = None


class _Attributes(BaseModel):
    attributes: list[str] | None = None


class _Wish(BaseModel):
    instruction: str
    instruction_attributes: list[str] | None = None
    instruction_options: list[str] | dict[str, str] | None = None


@lru_cache(maxsize=2)
def published_catalogue(folder: str | Path) -> Catalogue:
    """Read the products and human wishes of a folder.

    Of several files of a kind, the smallest is read. Wishes are in the released order.
    What has another form is left out, and the catalogue's remarks name it.

    A product with a range of prices costs the middle of it; the original draws a number
    when it starts.

    Raises:
        ConfigError: a file is missing, cut off, or something else.
    """
    folder = Path(folder)
    products, no_products, unpriced = _products(folder)
    goals, no_goals = _goals(_read(folder, WISHES, dict), products)
    remarks = [
        *Account(len(products), no_products).told(f"{PRODUCTS}, products"),
        *Account(len(goals), no_goals).told(f"{WISHES}, wishes"),
    ]
    if unpriced:
        n = len(unpriced)
        remarks.append(
            f"{PRODUCTS}: without a price, so ${NO_PRICE}: {n} ({unpriced[0]})"
        )
    if not goals:
        told = "; ".join([f"of the products of {folder}, got none", *remarks])
        raise ConfigError(f"env.data: wanted a wish in {WISHES} for one {told}")
    random.Random(ORDER).shuffle(goals)
    return Catalogue(products=products, goals=tuple(goals), remarks=tuple(remarks))


def _products(folder: Path) -> tuple[dict[str, Product], LeftOut, list[str]]:
    """The products by id, what is none, and those without a price."""
    tags = _read(folder, ATTRIBUTES, dict)
    products: dict[str, Product] = {}
    left_out: LeftOut = []
    unpriced: list[str] = []
    for place, row in enumerate(_read(folder, PRODUCTS, list), start=1):
        id = row.get("asin") if isinstance(row, dict) else None
        if isinstance(id, str) and id in products:
            left_out.append(("with the id of another", id))
            continue
        if isinstance(id, str) and (len(id) > ID_LENGTH or id == "nan"):
            left_out.append(("with an id that is none", shown(id)))
            continue
        try:
            read = _Row.model_validate(row, strict=True)
            found = _Attributes.model_validate(tags.get(read.asin) or {}, strict=True)
            products[read.asin] = _product(read, found.attributes or [])
        except ValidationError as error:
            left_out.append((f"where {fault(error)}", str(id or f"number {place}")))
            continue
        if not read.pricing:
            unpriced.append(read.asin)
    return products, left_out, unpriced


def _goals(
    wishes: Mapping[str, object], products: Mapping[str, Product]
) -> tuple[list[Goal], LeftOut]:
    """The wishes in the order of products, and what is none."""
    goals: list[Goal] = []
    left_out: LeftOut = []
    for id in (*products, *sorted(wishes.keys() - products.keys())):
        listed = wishes.get(id, [])
        for wish in listed if isinstance(listed, list) else [listed]:
            try:
                asked = _Wish.model_validate(wish, strict=True)
            except ValidationError as error:
                left_out.append((f"where {fault(error)}", id))
                continue
            if id not in products:
                left_out.append(("for products that are not there", id))
            elif not asked.instruction_attributes:
                left_out.append(("without attributes", id))
            else:
                goals.append(_goal(products[id], asked))
    return goals, left_out


def _read(folder: Path, pattern: str, kind: type[T]) -> T:
    found = sorted(
        folder.glob(pattern), key=lambda path: (path.stat().st_size, path.name)
    )
    if not found:
        raise ConfigError(f"env.data: wanted {pattern} in {folder}, got no such file")
    file = ForeignFile("env.data", found[0])
    content = file.json()
    if not isinstance(content, kind):
        raise file.refused(f"wanted a {kind.__name__}, got {shown(content)}")
    return content


def _product(row: _Row, attributes: Sequence[str]) -> Product:
    options: dict[str, tuple[str, ...]] = {}
    for name, values in (row.customization_options or {}).items():
        if values:
            # Values are written as in the original shop.
            texts = [each.value.strip().replace("/", " | ").lower() for each in values]
            options[name.lower()] = tuple(dict.fromkeys(texts))

    # The file has a list of features, or one of them as text.
    features = row.small_description or []
    if isinstance(features, str):
        features = [features]
    amounts = row.pricing or [NO_PRICE]
    return Product(
        id=row.asin,
        title=row.name,
        query=row.query.lower().strip(),
        category=tuple(each.strip() for each in row.product_category.split("\u203a")),
        attributes=tuple(attributes),
        options=options,
        price=sum(amounts) / len(amounts),
        price_tag=" to ".join(f"${amount}" for amount in amounts),
        description=row.full_description or "",
        features=tuple(features),
    )


def _goal(product: Product, wish: _Wish) -> Goal:
    text = wish.instruction.strip(".")
    # Drawn by a hash of the wish; the original draws another bound at every start.
    rng = generator(0, "webshop", product.id, text)
    instruction, price = bounded(text, product.price, rng)

    options = wish.instruction_options
    if isinstance(options, dict):
        options = [*options.values()]
    return Goal(
        product=product,
        instruction=instruction,
        attributes=tuple(wish.instruction_attributes or ()),
        options=tuple(options or ()),
        price=price,
    )
