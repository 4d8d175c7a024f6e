"""A visit to the shop: the open page, its links and texts, and the effects of
clicks.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from gde_plugins.webshop.index import Index
from gde_plugins.webshop.product import Catalogue, Product

ON_A_PAGE = 10
"""Number of results on a page."""
SEARCH = "search"
BACK = "back to search"
NEXT = "next >"
PREVIOUS = "< prev"
BUY = "buy now"
Page = Literal[
    "search", "results", "product", "description", "features", "attributes", "done"
]
PARTS: tuple[Page, ...] = ("description", "features", "attributes")
"""Pages of a product besides its main one."""


@dataclass(frozen=True, kw_only=True)
class Visit:
    """The state of an episode."""

    page: Page = "search"
    query: str = ""
    number: int = 0
    """Number of the page of results, from 0."""
    product: str = ""
    chosen: Mapping[str, str] = field(default_factory=dict)
    """Option to chosen value."""


@dataclass(frozen=True)
class Shop:
    """A catalogue with its search; the links and texts of its pages."""

    catalogue: Catalogue
    index: Index

    def product(self, visit: Visit) -> Product:
        """Return the open product."""
        return self.catalogue.products[visit.product]

    def results(self, visit: Visit) -> tuple[str, ...]:
        """Return the ids of the results on all pages."""
        return self.index.search(visit.query)

    def shown(self, visit: Visit) -> tuple[str, ...]:
        """Return the ids of the results on the open page."""
        first = visit.number * ON_A_PAGE
        return self.results(visit)[first : first + ON_A_PAGE]

    def clicks(self, visit: Visit) -> tuple[str, ...]:
        """Return the names of all links, each once."""
        links: list[str] = []
        if visit.page == "results":
            links.append(BACK)
            last = (len(self.results(visit)) - 1) // ON_A_PAGE
            if visit.number < last:
                links.append(NEXT)
            if visit.number > 0:
                links.append(PREVIOUS)
            for id in self.shown(visit):
                links.append(id.lower())
        elif visit.page == "product":
            links += [BACK, PREVIOUS, *PARTS]
            for values in self.product(visit).options.values():
                links += values
            links.append(BUY)
        elif visit.page in PARTS:
            links += [BACK, PREVIOUS]
        # Two options of a product may have a value of the same name.
        return tuple(dict.fromkeys(links))

    def click(self, visit: Visit, on: str) -> Visit:
        """Follow a link that `clicks` lists."""
        if on == BACK:
            return Visit()
        if on == BUY:
            return replace(visit, page="done")
        if visit.page == "results":
            return self._click_result(visit, on)
        if on == PREVIOUS:
            above: Page = "results" if visit.page == "product" else "product"
            return replace(visit, page=above)
        for part in PARTS:
            if part == on:
                return replace(visit, page=part)

        # All other links are values of options; the first option with the value gets
        # it.
        for option, values in self.product(visit).options.items():
            if on in values:
                return replace(visit, chosen={**visit.chosen, option: on})
        raise ValueError(f"the page has no link {on!r}")

    def _click_result(self, visit: Visit, on: str) -> Visit:
        if on == NEXT:
            return replace(visit, number=visit.number + 1)
        if on == PREVIOUS:
            return replace(visit, number=visit.number - 1)
        for id in self.shown(visit):
            if id.lower() == on:
                return replace(visit, page="product", product=id, chosen={})
        raise ValueError(f"the page has no link {on!r}")

    def text(self, visit: Visit) -> str:
        """Return the text of the open page."""
        if visit.page == "search":
            return "You are at the shop's search page."
        if visit.page == "results":
            return self._results_text(visit)
        product = self.product(visit)
        if visit.page == "description":
            return f"{product.title}\nDescription: {product.description or 'none'}"
        if visit.page == "features":
            features = [f"- {feature}" for feature in product.features]
            return "\n".join([product.title, "Features:", *features])
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
        lines = [
            f'Page {visit.number + 1} of {n_pages}, {n_found} results for "{visit.query}".'
        ]
        for id in self.shown(visit):
            product = self.catalogue.products[id]
            lines.append(f"[{id.lower()}] {product.title} ${product.price:.2f}")
        return "\n".join(lines)

    def _product_text(self, product: Product, visit: Visit) -> str:
        lines = [product.title, f"Price: ${product.price:.2f}"]
        for name, values in product.options.items():
            # The chosen value stands in brackets.
            chosen = visit.chosen.get(name)
            shown = [f"[{value}]" if value == chosen else value for value in values]
            lines.append(f"{name}: {', '.join(shown)}")
        if visit.page == "done":
            lines.append("You have bought it.")
        return "\n".join(lines)
