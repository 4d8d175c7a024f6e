"""What is sold."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Product:
    """One article, with what its pages show and what its purchase is judged by."""

    id: str
    title: str
    query: str
    """The kind of product, by which it is found in the shop's register."""
    category: tuple[str, ...]
    """From the department down."""
    attributes: tuple[str, ...]
    options: Mapping[str, tuple[str, ...]]
    """Name of an option to the values that it can have."""
    price: float
    """Dollars."""
    description: str = ""
    features: tuple[str, ...] = ()

    @property
    def prose(self) -> str:
        """Everything that is said of it, in lower case."""
        return " \n".join((self.title, *self.features, self.description)).lower()


@dataclass(frozen=True, kw_only=True)
class Goal:
    """What a customer wants."""

    product: Product
    """The one that the wish was written for; others may fulfil it as well."""
    instruction: str
    attributes: tuple[str, ...]
    options: tuple[str, ...]
    """Wanted values."""
    price: float
    """Upper bound, in dollars."""


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """The products of a shop, and the wishes that are written down for it."""

    products: Mapping[str, Product]
    """By id."""
    goals: tuple[Goal, ...] = ()
    """Empty where every seed is another wish."""
