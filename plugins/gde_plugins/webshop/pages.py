"""The text of a page, as WebShop's text environment writes it."""

from dataclasses import dataclass
from typing import Literal

from gde_plugins.webshop.session import NEXT, PREVIOUS, Shop, Visit

Style = Literal["text_rich", "text"]
Kind = Literal["text", "button", "option", "link"]
SEPARATOR = " [SEP] "
THANKS = "Thank you for shopping with us!"


@dataclass(frozen=True)
class Part:
    """One visible text of a page."""

    text: str
    kind: Kind = "text"
    clicked: bool = False
    """Whether it is a chosen option, or a link to an opened product."""

    @property
    def rich(self) -> str:
        """The text with its mark."""
        mark = "clicked button" if self.clicked else "button"
        marked = f"[{mark}] {self.text} [{mark}_]"
        match self.kind:
            case "button":
                return marked
            case "option":
                return f"  {marked}"
            case "link":
                return f"\n{marked}"
            case "text":
                return self.text


def written(shop: Shop, visit: Visit, style: Style) -> str:
    """Return the text of the open page.

    The instruction, which the original repeats on every page, is the task's objective.
    """
    parts = _parts(shop, visit)
    if style == "text":
        return SEPARATOR.join(part.text for part in parts)
    clicked = [part for part in parts if part.kind == "option" and part.clicked]
    # The last choice stands first, as in the original.
    notes = [f"You have clicked {part.text}." for part in reversed(clicked)]
    return "\n".join([*notes, *(part.rich for part in parts)])


def _parts(shop: Shop, visit: Visit) -> list[Part]:
    match visit.page:
        case "search":
            return [Part("Search", "button")]
        case "done":
            return [Part(THANKS)]
    head = [Part("Back to Search", "button")]
    if visit.page == "results":
        return head + _results(shop, visit)
    head.append(Part("< Prev", "button"))
    if visit.page == "product":
        return head + _product(shop, visit)

    product = shop.product(visit)
    match visit.page:
        case "description":
            texts = [product.description or "No Description"]
        case "features":
            texts = [*product.features] or ["No Features"]
        case _:
            texts = ["No reviews found"]
    return head + [Part(text) for text in texts]


def _results(shop: Shop, visit: Visit) -> list[Part]:
    n_found = len(shop.results(visit))
    parts = [Part(f"Page {visit.number + 1} (Total results: {n_found})")]
    for name, shown in ((PREVIOUS, "< Prev"), (NEXT, "Next >")):
        if name in shop.clicks(visit):
            parts.append(Part(shown, "button"))
    for id in shop.shown(visit):
        product = shop.catalogue.products[id]
        parts.append(Part(id, "link", clicked=id in visit.opened))
        parts += [Part(product.title), Part(product.price_tag)]
    return parts


def _product(shop: Shop, visit: Visit) -> list[Part]:
    product = shop.product(visit)
    parts = []
    for name, values in product.options.items():
        parts.append(Part(name))
        for value in values:
            is_chosen = visit.chosen.get(name) == value
            parts.append(Part(value, "option", clicked=is_chosen))
    parts += [
        Part(product.title),
        Part(f"Price: {product.price_tag}"),
        Part("Rating: N.A."),
    ]
    for name in ("Description", "Features", "Reviews", "Buy Now"):
        parts.append(Part(name, "button"))
    return parts
