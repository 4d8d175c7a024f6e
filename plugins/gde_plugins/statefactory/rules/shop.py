"""Rules for WebShop, whose pages mark what can be clicked."""

import re

from gde.data.transcript import Transcript
from gde_plugins.statefactory.rules.worlds import Given, Rules
from gde_plugins.statefactory.state import Item, Items

BOUND = re.compile(r",? and price lower than [\d.]+ dollars$")
WISH = re.compile(r"^Find me (?P<wanted>.*?)(?: with (?P<options>[^:]+: .*))?$")
CHOICE = re.compile(r"^ *\[(clicked )?button\] (.+) \[(?:clicked )?button_\]$")
PRICE = "Price: "
BUY = "[button] Buy Now [button_]"
RESULTS = re.compile(r"^Page \d+ \(Total results: \d+\)$", re.MULTILINE)
RESULT = re.compile(r"^\[(?:clicked )?button\] B\w{9} .*\n(.+)$", re.MULTILINE)
SEARCH = "[button] Search [button_]"
THANKS = "Thank you for shopping with us!"
BOUGHT = "bought"


def wish(objective: str) -> Items:
    """One object: the wanted product, bought, with its options if they are named."""
    said = BOUND.sub("", objective)
    found = WISH.match(said)
    if not found:
        return [Item(said, {"status": BOUGHT})]
    attributes: dict[str, str] = {}
    for part in (found["options"] or "").split(", and "):
        name, colon, value = part.partition(": ")
        if colon:
            attributes[name] = value
    return [Item(found["wanted"], {**attributes, "status": BOUGHT})]


def page(text: str, last: Items) -> Items:
    """The open product with its chosen options, or the listed products.

    Pages without a product, such as its description, leave the `last` one open.
    """
    if text == THANKS:
        return [
            Item(item.name, {**item.attributes, "status": BOUGHT}) for item in last[:1]
        ]
    if RESULTS.search(text):
        return [Item(title, {"status": "listed"}) for title in RESULT.findall(text)]
    if BUY in text:
        return [_product(text)]
    return [] if text == SEARCH else last


def _product(text: str) -> Item:
    """The product of its main page: options, then title, then price."""
    chosen: dict[str, str] = {}
    name = title = ""
    for line in text.splitlines():
        if line.startswith(PRICE):
            title = name
            break
        choice = CHOICE.match(line)
        if not choice:
            # The name of an option, or the title, which is the last before the price.
            name = line
        elif choice[1]:
            chosen[name] = choice[2]
    return Item(title, {**chosen, "status": "open"})


def _read(transcript: Transcript, objective: str) -> Given | None:
    texts = [step.observation for step in transcript.steps]
    if not any(_is_shop(text) for text in texts):
        return None
    states: list[Items] = []
    for text in texts:
        states.append(page(text, states[-1] if states else []))
    return Given(states, [wish(objective)] * len(states))


def _is_shop(text: str) -> bool:
    return text == SEARCH or BUY in text or RESULTS.search(text) is not None


RULES = Rules("shop", _read)
