"""A visit to the shop: the open page, its links and texts, and clicks."""

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
"""Pages of a product besides its main page."""


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
        return tuple(self._links(visit))

    def click(self, visit: Visit, on: str) -> Visit:
        """Follow a link that `clicks` lists.

        Raises:
            ValueError: the page has no such link.
        """
        links = self._links(visit)
        if on not in links:
            raise ValueError(f"the page has no link {on!r}")
        return links[on]

    def _links(self, visit: Visit) -> dict[str, Visit]:
        """Return every link of the open page with its target."""
        links = {BACK: Visit()}
        if visit.page == "results":
            last = (len(self.results(visit)) - 1) // ON_A_PAGE
            if visit.number < last:
                links[NEXT] = replace(visit, number=visit.number + 1)
            if visit.number > 0:
                links[PREVIOUS] = replace(visit, number=visit.number - 1)
            for id in self.shown(visit):
                opened = replace(visit, page="product", product=id, chosen={})
                links[id.lower()] = opened
        elif visit.page == "product":
            links[PREVIOUS] = replace(visit, page="results")
            for part in PARTS:
                links[part] = replace(visit, page=part)
            # Two options may have a value of the same name; the first option gets it.
            for option, values in self.product(visit).options.items():
                for value in values:
                    chosen = {**visit.chosen, option: value}
                    links.setdefault(value, replace(visit, chosen=chosen))
            links[BUY] = replace(visit, page="done")
        elif visit.page in PARTS:
            links[PREVIOUS] = replace(visit, page="product")
        else:
            return {}
        return links

    def text(self, visit: Visit) -> str:
        """Return the text of the open page."""
        if visit.page == "search":
            return "You are at the shop's search page."
        if visit.page == "results":
            return self._results_text(visit)
        product = self.product(visit)
        lines = [product.title]
        match visit.page:
            case "description":
                lines.append(f"Description: {product.description or 'none'}")
            case "features":
                lines += ["Features:", *(f"- {each}" for each in product.features)]
            case "attributes":
                lines.append(f"Category: {' > '.join(product.category)}")
                lines.append(f"Attributes: {', '.join(product.attributes)}")
            case _:
                lines.append(f"Price: ${product.price:.2f}")
                for name, values in product.options.items():
                    # The chosen value stands in brackets.
                    chosen = visit.chosen.get(name)
                    shown = [f"[{each}]" if each == chosen else each for each in values]
                    lines.append(f"{name}: {', '.join(shown)}")
        if visit.page == "done":
            lines.append("You have bought it.")
        return "\n".join(lines)

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
