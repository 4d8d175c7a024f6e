"""The shop: the wanted product, and the products that a page shows."""

import re

from gde.data.trajectory import Trajectory
from gde_plugins.statefactory.rules.given import Given, Rules, seen
from gde_plugins.statefactory.state import Item, Items

WISH = re.compile(
    r"I am looking for (?P<kind>[^:]+): (?P<wanted>.*), in (?P<options>.*), for less than (?P<price>\S+)"
)
PRICE = re.compile(r"^Price: \$([\d.]+)$", re.MULTILINE)
OPTION = re.compile(r"^([a-z ]+): .*\[(.+?)\]", re.MULTILINE)
RESULT = re.compile(r"^\[[^\]]+\] (.+) \$[\d.]+$", re.MULTILINE)


def wish(text: str) -> Items:
    """One object: the wanted product, bought."""
    found = WISH.search(text)
    if not found:
        return []
    attributes: dict[str, str] = {}
    for part in found["options"].split(" and "):
        name, blank, value = part.partition(" ")
        if blank:
            attributes[name] = value
    title = f"{found['kind']}, {found['wanted']}"
    return [Item(title, {**attributes, "status": "bought"})]


def page(text: str) -> Items:
    """The open product with its chosen options, or the listed products."""
    if products := RESULT.findall(text):
        return [Item(title, {"status": "listed"}) for title in products]
    if not PRICE.search(text):
        return []
    status = "bought" if text.endswith("You have bought it.") else "open"
    chosen = dict(OPTION.findall(text))
    title, _, _ = text.partition("\n")
    return [Item(title, {**chosen, "status": status})]


def _read(trajectory: Trajectory, objective: str) -> Given | None:
    goal = wish(objective)
    if not goal:
        return None
    states = [page(text) for text in seen(trajectory)]
    return Given(states, [goal] * len(states))


RULES = Rules("shop", _read)
