"""A visit to the shop: which page is open, what can be done there, and what follows."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from gde_plugins.webshop.index import Index
from gde_plugins.webshop.product import Catalogue, Product

ON_A_PAGE = 10
SEARCH, BACK, NEXT, PREVIOUS, BUY = "search", "back to search", "next >", "< prev", "buy now"
Page = Literal["search", "results", "product", "description", "features", "attributes", "done"]
PARTS: tuple[Page, ...] = ("description", "features", "attributes")
"""Pages of a product beside its main one."""


@dataclass(frozen=True, kw_only=True)
class Visit:
    """All that changes."""

    page: Page = "search"
    query: str = ""
    number: int = 0
    """Of the page of results, from 0."""
    product: str = ""
    chosen: Mapping[str, str] = field(default_factory=dict)
    """Option to chosen value."""


@dataclass(frozen=True)
class Shop:
    """A catalogue with its search; what a visit can do and see there."""

    catalogue: Catalogue
    index: Index

    def product(self, visit: Visit) -> Product:
        """The one that is open."""
        return self.catalogue.products[visit.product]

    def results(self, visit: Visit) -> tuple[str, ...]:
        """Ids of everything that was found, on all pages."""
        return self.index.search(visit.query)

    def shown(self, visit: Visit) -> tuple[str, ...]:
        """Ids of the page of results."""
        return self.results(visit)[visit.number * ON_A_PAGE :][:ON_A_PAGE]

    def clicks(self, visit: Visit) -> tuple[str, ...]:
        """What can be clicked on, each once."""
        if visit.page == "results":
            last = (len(self.results(visit)) - 1) // ON_A_PAGE
            turning = [NEXT] * (visit.number < last) + [PREVIOUS] * (visit.number > 0)
            return (BACK, *turning, *(id.lower() for id in self.shown(visit)))
        if visit.page == "product":
            values = [value for of in self.product(visit).options.values() for value in of]
            return tuple(dict.fromkeys((BACK, PREVIOUS, *PARTS, *values, BUY)))
        return () if visit.page in {"search", "done"} else (BACK, PREVIOUS)

    def click(self, visit: Visit, on: str) -> Visit:
        """Where a click leads."""
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
        if part := next((part for part in PARTS if part == on), None):
            return replace(visit, page=part)
        option = next(name for name, values in self.product(visit).options.items() if on in values)
        return replace(visit, chosen={**visit.chosen, option: on})

    def text(self, visit: Visit) -> str:
        """The page as it reads."""
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
            category, attributes = " > ".join(product.category), ", ".join(product.attributes)
            return f"{product.title}\nCategory: {category}\nAttributes: {attributes}"
        return self._product_text(product, visit)

    def _results_text(self, visit: Visit) -> str:
        found = self.results(visit)
        pages = -(-len(found) // ON_A_PAGE)
        head = f"Page {visit.number + 1} of {pages}, {len(found)} results" if found else "No results"
        lines = [
            f"[{id.lower()}] {product.title} ${product.price:.2f}"
            for id in self.shown(visit)
            for product in [self.catalogue.products[id]]
        ]
        return "\n".join([f'{head} for "{visit.query}".', *lines])

    def _product_text(self, product: Product, visit: Visit) -> str:
        options = [
            f"{name}: {', '.join(f'[{value}]' if visit.chosen.get(name) == value else value for value in values)}"
            for name, values in product.options.items()
        ]
        end = ["You have bought it."] if visit.page == "done" else []
        return "\n".join([product.title, f"Price: ${product.price:.2f}", *options, *end])
