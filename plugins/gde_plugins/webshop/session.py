"""A visit to the shop: the open page, its links and texts, and where a click leads."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Literal

from gde_plugins.webshop.index import Index
from gde_plugins.webshop.product import Catalogue, Product

ON_A_PAGE = 10
"""Results on a page."""
SEARCH = "search"
BACK = "back to search"
NEXT = "next >"
PREVIOUS = "< prev"
BUY = "buy now"
Page = Literal["search", "results", "product", "description", "features", "attributes", "done"]
PARTS: tuple[Page, ...] = ("description", "features", "attributes")
"""Pages of a product besides its main one."""


@dataclass(frozen=True, kw_only=True)
class Visit:
    """The state of an episode."""

    page: Page = "search"
    query: str = ""
    number: int = 0
    """Of the page of results, from 0."""
    product: str = ""
    chosen: Mapping[str, str] = field(default_factory=dict)
    """Option to chosen value."""


@dataclass(frozen=True)
class Shop:
    """A catalogue with its search; the links and texts of its pages."""

    catalogue: Catalogue
    index: Index

    def product(self, visit: Visit) -> Product:
        """The open product."""
        return self.catalogue.products[visit.product]

    def results(self, visit: Visit) -> tuple[str, ...]:
        """Ids of the results on all pages."""
        return self.index.search(visit.query)

    def shown(self, visit: Visit) -> tuple[str, ...]:
        """Ids of the results on the open page."""
        first = visit.number * ON_A_PAGE
        return self.results(visit)[first : first + ON_A_PAGE]

    def clicks(self, visit: Visit) -> tuple[str, ...]:
        """Names of all links, each once."""
        if visit.page == "results":
            links = [BACK]
            if visit.number < (len(self.results(visit)) - 1) // ON_A_PAGE:
                links.append(NEXT)
            if visit.number > 0:
                links.append(PREVIOUS)
            return (*links, *(id.lower() for id in self.shown(visit)))
        if visit.page == "product":
            values = chain.from_iterable(self.product(visit).options.values())
            return tuple(dict.fromkeys((BACK, PREVIOUS, *PARTS, *values, BUY)))
        if visit.page in PARTS:
            return BACK, PREVIOUS
        return ()

    def click(self, visit: Visit, on: str) -> Visit:
        """Follow a link that `clicks` lists."""
        if on == BACK:
            return Visit()
        if on == BUY:
            return replace(visit, page="done")
        if visit.page == "results":
            if on in {NEXT, PREVIOUS}:
                return replace(visit, number=visit.number + (1 if on == NEXT else -1))
            id = next(each for each in self.shown(visit) if each.lower() == on)
            return replace(visit, page="product", product=id, chosen={})
        if on == PREVIOUS:
            return replace(visit, page="results" if visit.page == "product" else "product")
        for part in PARTS:
            if part == on:
                return replace(visit, page=part)
        option = next(name for name, values in self.product(visit).options.items() if on in values)
        return replace(visit, chosen={**visit.chosen, option: on})

    def text(self, visit: Visit) -> str:
        """The text of the open page."""
        if visit.page == "search":
            return "You are at the shop's search page."
        if visit.page == "results":
            return self._results_text(visit)
        product = self.product(visit)
        if visit.page == "description":
            return f"{product.title}\nDescription: {product.description or 'none'}"
        if visit.page == "features":
            return "\n".join([product.title, "Features:", *(f"- {each}" for each in product.features)])
        if visit.page == "attributes":
            category = " > ".join(product.category)
            attributes = ", ".join(product.attributes)
            return f"{product.title}\nCategory: {category}\nAttributes: {attributes}"
        return self._product_text(product, visit)

    def _results_text(self, visit: Visit) -> str:
        n_found = len(self.results(visit))
        if not n_found:
            return f'No results for "{visit.query}".'
        n_pages = math.ceil(n_found / ON_A_PAGE)
        lines = [f'Page {visit.number + 1} of {n_pages}, {n_found} results for "{visit.query}".']
        for id in self.shown(visit):
            product = self.catalogue.products[id]
            lines.append(f"[{id.lower()}] {product.title} ${product.price:.2f}")
        return "\n".join(lines)

    def _product_text(self, product: Product, visit: Visit) -> str:
        lines = [product.title, f"Price: ${product.price:.2f}"]
        for name, values in product.options.items():
            # The chosen value stands in brackets.
            chosen = visit.chosen.get(name)
            lines.append(f"{name}: " + ", ".join(f"[{value}]" if value == chosen else value for value in values))
        if visit.page == "done":
            lines.append("You have bought it.")
        return "\n".join(lines)
