"""Observations to objects and attributes, without a language model.

Rules know the sentences of the blocks world, the pages of the shop and the maps of the grid. Whatever else is seen
becomes one object a sentence, without attributes.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from gde_plugins.statefactory.state import Item, Items

SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")
ON_BLOCK = re.compile(r"block (\S+?) is on block (\S+?)(?=[ .,]|$)", re.IGNORECASE)
ON_TABLE = re.compile(r"block (\S+?) is on the table", re.IGNORECASE)
BARE = re.compile(r"nothing is on block (\S+?)(?=[ .,]|$)", re.IGNORECASE)
HELD = re.compile(r"the hand holds block (\S+?)(?=[ .,]|$)", re.IGNORECASE)
WISH = re.compile(r"I am looking for (?P<kind>[^:]+): (?P<wanted>.*), in (?P<options>.*), for less than (?P<price>\S+)")
PRICE = re.compile(r"^Price: \$([\d.]+)$", re.MULTILINE)
OPTION = re.compile(r"^([a-z ]+): .*\[(.+?)\]", re.MULTILINE)
RESULT = re.compile(r"^\[[^\]]+\] (.+) \$[\d.]+$", re.MULTILINE)
CELL = re.compile(r"\S")


@dataclass(frozen=True)
class Extractor:
    """How the states and the goal of one kind of world are read."""

    name: str
    goal: Callable[[str], Items]
    """Of the objective; empty where it is not of this kind."""
    state: Callable[[str], Items]


def sentences(text: str) -> Items:
    """One object a sentence."""
    found = (sentence.strip() for sentence in SENTENCE.findall(text))
    return [Item(sentence) for sentence in found if sentence]


def blocks(text: str) -> Items:
    """One object a block, with what it stands on and whether something stands on it."""
    told: dict[str, dict[str, str]] = {}
    for block, under in ON_BLOCK.findall(text):
        told.setdefault(block, {})["stands on"] = f"block {under}"
    for block in ON_TABLE.findall(text):
        told.setdefault(block, {})["stands on"] = "the table"
    for block in HELD.findall(text):
        told.setdefault(block, {})["stands on"] = "in the hand"
    for block in BARE.findall(text):
        told.setdefault(block, {})["above it"] = "nothing"
    return [Item(f"block {name}", attributes) for name, attributes in told.items()]


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
    if listed := RESULT.findall(text):
        return [Item(title, {"status": "listed"}) for title in listed]
    if not PRICE.search(text):
        return []
    status = "bought" if text.endswith("You have bought it.") else "open"
    chosen = dict(OPTION.findall(text))
    return [Item(text.partition("\n")[0], {**chosen, "status": status})]


RULES = (Extractor("blocks", blocks, blocks), Extractor("shop", wish, page))
TEXT = Extractor("sentences", sentences, sentences)


def extractor_for(objective: str, rules: bool) -> Extractor:
    """The one whose rules know the objective, else sentences."""
    known = (each for each in RULES if each.goal(objective)) if rules else iter(())
    return next(known, TEXT)
