"""The shop: the product that is wanted, and those that a page shows."""

import re

from gde.data.trajectory import Trajectory
from gde_plugins.statefactory.rules.given import Rules, Told, seen
from gde_plugins.statefactory.state import Item, Items

WISH = re.compile(r"I am looking for (?P<kind>[^:]+): (?P<wanted>.*), in (?P<options>.*), for less than (?P<price>\S+)")
PRICE = re.compile(r"^Price: \$([\d.]+)$", re.MULTILINE)
OPTION = re.compile(r"^([a-z ]+): .*\[(.+?)\]", re.MULTILINE)
RESULT = re.compile(r"^\[[^\]]+\] (.+) \$[\d.]+$", re.MULTILINE)


def wish(text: str) -> Items:
    """One object: the product that is wanted, to be bought."""
    found = WISH.search(text)
    if not found:
        return []
    options = (part.split(" ", 1) for part in found["options"].split(" and ") if " " in part)
    title = f"{found['kind']}, {found['wanted']}"
    return [Item(title, {**dict(options), "status": "bought"})]


def page(text: str) -> Items:
    """The product that is open, with its chosen options, or those that are listed."""
    if products := RESULT.findall(text):
        return [Item(title, {"status": "listed"}) for title in products]
    if not PRICE.search(text):
        return []
    status = "bought" if text.endswith("You have bought it.") else "open"
    chosen = dict(OPTION.findall(text))
    return [Item(text.partition("\n")[0], {**chosen, "status": status})]


def _read(trajectory: Trajectory, objective: str) -> Told | None:
    goal = wish(objective)
    return Told([page(text) for text in seen(trajectory)], [goal] * len(trajectory.turns)) if goal else None


RULES = Rules("shop", _read)
