"""A visit to the shop: the open page, its links, and clicks."""

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
    "search", "results", "product", "description", "features", "reviews", "done"
]
PARTS: tuple[Page, ...] = ("description", "features", "reviews")
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
    opened: tuple[str, ...] = ()
    """Ids of the products opened since the last search."""


@dataclass(frozen=True)
class Shop:
    """A catalogue with its search, and the links of its pages."""

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
        """Return every link of the open page with its target, as they stand on it."""
        if visit.page in {"search", "done"}:
            return {}
        links = {BACK: Visit()}
        if visit.page == "results":
            links |= self._results_links(visit)
        elif visit.page == "product":
            links |= self._product_links(visit)
        else:
            links[PREVIOUS] = replace(visit, page="product")
        return links

    def _results_links(self, visit: Visit) -> dict[str, Visit]:
        links: dict[str, Visit] = {}
        last = (len(self.results(visit)) - 1) // ON_A_PAGE
        if visit.number > 0:
            links[PREVIOUS] = replace(visit, number=visit.number - 1)
        if visit.number < last:
            links[NEXT] = replace(visit, number=visit.number + 1)
        for id in self.shown(visit):
            opened = tuple(dict.fromkeys((*visit.opened, id)))
            links[id.lower()] = replace(
                visit, page="product", product=id, chosen={}, opened=opened
            )
        return links

    def _product_links(self, visit: Visit) -> dict[str, Visit]:
        links = {PREVIOUS: replace(visit, page="results")}
        # Two options may have a value of the same name; the last one gets it, as in the
        # original.
        for option, values in self.product(visit).options.items():
            for value in values:
                chosen = {**visit.chosen, option: value}
                links[value] = replace(visit, chosen=chosen)
        for part in PARTS:
            links[part] = replace(visit, page=part)
        links[BUY] = replace(visit, page="done")
        return links
