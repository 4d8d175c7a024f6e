"""Products, the wishes of customers, and the catalogue of both."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

NO_BOUND = 1_000_000.0
"""Upper bound of a wish without one, in dollars, as in the released code."""
BOUNDS = tuple(10.0 * tens for tens in range(1, 100))
"""Possible upper bounds, in dollars."""


@dataclass(frozen=True, kw_only=True)
class Product:
    """One article: the content of its pages, and the data for judging its purchase."""

    id: str
    title: str
    query: str
    """The kind of product, as in the shop's register."""
    category: tuple[str, ...]
    """From the department down."""
    attributes: tuple[str, ...]
    """For judging a purchase; no page lists them."""
    options: Mapping[str, tuple[str, ...]]
    """Name of an option to its possible values."""
    price: float
    """Price in dollars."""
    price_tag: str
    """Price as pages show it."""
    description: str = ""
    features: tuple[str, ...] = ()

    @property
    def prose(self) -> tuple[str, str, str]:
        """Title, features and description, in lower case."""
        features = " ".join(self.features)
        return self.title.lower(), features.lower(), self.description.lower()

    @property
    def contents(self) -> str:
        """Text that searches find: title, description, first feature and options."""
        options = [f"{name}: {', '.join(all)}" for name, all in self.options.items()]
        first = "".join(self.features[:1])
        parts = (self.title, self.description, first, ", and ".join(options))
        return " ".join(parts).lower()


@dataclass(frozen=True, kw_only=True)
class Goal:
    """The wish of a customer."""

    product: Product
    """The product that the wish was written for; others may fulfil it as well."""
    instruction: str
    attributes: tuple[str, ...]
    options: tuple[str, ...]
    """Wanted values of options."""
    price: float
    """Upper bound, in dollars."""


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """The products of a shop, and its listed wishes."""

    products: Mapping[str, Product]
    """Products by id."""
    goals: tuple[Goal, ...] = ()
    """Listed wishes; empty if every seed draws another wish."""
    remarks: tuple[str, ...] = ()
    """On what was left out of the published data."""


def bounded(text: str, price: float, rng: np.random.Generator) -> tuple[str, float]:
    """Add a price bound to a wish: the higher of two of the next four multiples of ten
    dollars. Expensive products have no bound, as in the released code.
    """
    above = [bound for bound in BOUNDS if bound > price][:4]
    if len(above) < 2:
        return text, NO_BOUND
    bound = float(max(rng.choice(above, 2, replace=False)))
    return f"{text}, and price lower than {bound:.2f} dollars", bound
