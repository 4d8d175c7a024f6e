"""Products, the wishes of customers, and the catalogue of both."""

from collections.abc import Mapping
from dataclasses import dataclass


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
    options: Mapping[str, tuple[str, ...]]
    """Name of an option to its possible values."""
    price: float
    """Price in dollars."""
    description: str = ""
    features: tuple[str, ...] = ()

    @property
    def prose(self) -> str:
        """Title, features and description, in lower case."""
        return " \n".join((self.title, *self.features, self.description)).lower()


@dataclass(frozen=True, kw_only=True)
class Goal:
    """The wish of a customer."""

    product: Product
    """The product that the wish was written for; others may fulfil it as well."""
    instruction: str
    attributes: tuple[str, ...]
    options: tuple[str, ...]
    """Wanted values by option."""
    price: float
    """Upper bound, in dollars."""


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """The products of a shop, and its listed wishes."""

    products: Mapping[str, Product]
    """Products by id."""
    goals: tuple[Goal, ...] = ()
    """Listed wishes; empty if every seed draws another wish."""
