"""What a purchase is worth."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from gde.errors import ConfigError
from gde.seeding import generator
from gde_plugins.webshop.colors import COLORS
from gde_plugins.webshop.generated import generated_catalogue, random_goal
from gde_plugins.webshop.product import Goal, Product
from gde_plugins.webshop.reward import kind_fit, likeness, reward
from gde_plugins.webshop.shopper import wanted_values
from gde_plugins.webshop.titles import tagged

BOTTLE = Product(
    id="G1",
    title="Alderholm Water Bottle, leak proof",
    query="water bottle",
    category=("Home", "Drinkware", "Water Bottle"),
    attributes=("leak proof", "bpa free"),
    options={"color": ("black", "teal"), "size": ("12 fl oz", "16 fl oz")},
    price=18.5,
    price_tag="$18.5",
    description="Stays cold, dishwasher safe.",
)
GOAL = Goal(
    product=BOTTLE,
    instruction="",
    attributes=("leak proof", "bpa free"),
    options=("teal", "16 fl oz"),
    price=20,
)
FULL = {"color": "teal", "size": "16 fl oz"}


def test_what_is_wanted_is_worth_all() -> None:
    assert reward(BOTTLE, FULL, GOAL) == 1


@pytest.mark.parametrize(
    ("product", "chosen", "worth"),
    [
        (BOTTLE, {}, 3 / 5),
        (BOTTLE, {"color": "teal"}, 4 / 5),
        (BOTTLE, {"color": "black", "size": "32 oz"}, 3 / 5),
        (BOTTLE, {"color": "teal", "size": "12 fl oz"}, 1),  # alike, as released
        (replace(BOTTLE, price=20.01), FULL, 4 / 5),
        (
            replace(BOTTLE, attributes=("bpa free",)),
            FULL,
            1,
        ),  # the title says the other
        (
            replace(BOTTLE, title="Alderholm Water Bottle", attributes=("bpa free",)),
            FULL,
            4 / 5,
        ),
        (
            replace(BOTTLE, title="Garrow Rug", query="rug", category=("Decor",)),
            FULL,
            0,
        ),
        (
            replace(BOTTLE, title="Alderholm Rug", query="rug", category=("Decor",)),
            FULL,
            0.5,
        ),
    ],
    ids=[
        "nothing chosen",
        "one",
        "others",
        "another number",
        "too dear",
        "in the title",
        "not there",
        "another kind",
        "same brand",
    ],
)
def test_what_is_missing_costs_its_share(
    product: Product, chosen: dict[str, str], worth: float
) -> None:
    assert reward(product, chosen, GOAL) == pytest.approx(worth)


def test_kinds_fit_by_register_category_or_title() -> None:
    other = replace(BOTTLE, title="Alderholm Rug", query="rug", category=("Decor",))
    assert kind_fit(BOTTLE, BOTTLE) == 1
    assert kind_fit(other, BOTTLE) == 0.5
    assert kind_fit(replace(other, category=("Home", "Drinkware")), BOTTLE) == 1
    assert kind_fit(replace(other, title="Water Bottle"), BOTTLE) == 1
    long = replace(BOTTLE, title=" ".join(f"word{c}" for c in "abcdefghijkl"))
    assert kind_fit(replace(other, title="worda"), long) == 0.1


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("leak proof", "proof, leak", True),
        ("machine washable", "machine washable cotton", True),
        ("12 fl oz", "16 fl oz", True),
        ("medium", "x-medium", True),
        ("black", "teal", False),
        ("", "teal", False),
        ("stainless steel body", "stainless steel bodys", True),
        ("size 16", "16 size wide", True),
        ("abcdefg", "abcdefx", True),  # 85.7 per cent
        ("a" * 23 + "bbbb", "a" * 23 + "cccc", False),  # 85.2
    ],
)
def test_likeness_is_of_sets_of_words(a: str, b: str, same: bool) -> None:
    assert (likeness(a, b) > 85) is (likeness(b, a) > 85) is same


def test_options_are_compared_once_colors_are_normalised() -> None:
    navy = replace(GOAL, options=("navy | white", "16 fl oz"))
    # Both are "navy": the list is alphabetical, and the first that is found counts.
    assert reward(BOTTLE, {"color": "midnight navy", "size": "16 fl oz"}, navy) == 4 / 5
    assert reward(BOTTLE, {"color": "navy stripes", "size": "16 fl oz"}, navy) == 1
    assert reward(BOTTLE, {"color": "blue", "size": "16 fl oz"}, navy) == 4 / 5


# The reward by its definition (Yao et al. 2022, equations 1 and 2, and section 3), with
# the released choices: likeness in whole percent above 85, colors by their first name.
# It shares no code with the plugin.


def common(a: str, b: str) -> int:
    """The length of the longest common subsequence."""
    row = [0] * (len(b) + 1)
    for letter in a:
        above = row[:]
        for j, other in enumerate(b):
            row[j + 1] = above[j] + 1 if letter == other else max(above[j + 1], row[j])
    return row[-1]


def percent(a: str, b: str) -> int:
    return round(200 * common(a, b) / (len(a) + len(b))) if a or b else 100


@cache
def set_percent(a: str, b: str) -> int:
    """The likeness of two sets of words: of what they share and what each adds."""
    sets = []
    for text in (a, b):
        plain = "".join(c if c.isalnum() else " " for c in text.lower())
        sets.append(set(plain.split()))
    if not sets[0] or not sets[1]:
        return 0
    shared = sorted(sets[0] & sets[1])
    texts = [
        " ".join(shared),
        " ".join(shared + sorted(sets[0] - sets[1])),
        " ".join(shared + sorted(sets[1] - sets[0])),
    ]
    pairs = [(1, 2)]
    if shared:
        pairs += [(0, 1), (0, 2)]
    return max(percent(texts[i], texts[j]) for i, j in pairs)


def released(product: Product, chosen: dict[str, str], goal: Goal) -> float:
    def color(text: str) -> str:
        return next((each for each in COLORS if each in text), text)

    def title_nouns(title: str) -> list[str]:
        told = "".join(c if c.isalnum() else " " for c in title.lower()).split()
        idle = [
            "a",
            "an",
            "and",
            "by",
            "for",
            "from",
            "in",
            "of",
            "on",
            "or",
            "our",
            "the",
            "to",
            "with",
        ]
        return [each for each in told if not each.isdigit() and each not in idle]

    n_attributes = n_options = 0
    for attribute in goal.attributes:
        n_attributes += (
            any(set_percent(own, attribute) > 85 for own in product.attributes)
            or attribute in product.title.lower()
            or attribute in " ".join(product.features).lower()
            or attribute in product.description.lower()
        )
    for option in goal.options:
        values = [color(value) for value in chosen.values()]
        if any(set_percent(value, color(option)) > 85 for value in values):
            n_options += 1

    wanted = title_nouns(goal.product.title)
    both = set(title_nouns(product.title)) & set(wanted)
    title = len(both) / len(wanted) if wanted else 0.2
    query = product.query == goal.product.query
    category = len(set(product.category) & set(goal.product.category)) >= 2
    kind = 1.0
    if not (query or category or title > 0.2):
        kind = 0.5
    if title < 0.1:
        kind = 0.1
    if title == 0:
        kind = 0.0

    cheap = product.price <= goal.price
    n_wanted = len(goal.attributes) + len(goal.options) + 1
    return (n_attributes + n_options + cheap) / n_wanted * kind


def purchases(n: int) -> Iterator[tuple[Product, dict[str, str], Goal]]:
    """The wanted products, their siblings, others of the kind, and any."""
    catalogue = generated_catalogue(1_200, 0)
    products = [*catalogue.products.values()]
    rng = generator(0, "purchases")
    for number in range(n):
        goal = random_goal(catalogue, rng)
        of_kind = [one for one in products if one.query == goal.product.query]
        product = [goal.product, rng.choice(of_kind), rng.choice(products)][number % 3]  # type: ignore[arg-type]
        chosen = {
            name: str(rng.choice(values))
            for name, values in product.options.items()
            if rng.random() < 0.8
        }
        # Human wishes name values in words of their own.
        options = [
            f"{option} {rng.choice(['', 'one', 'light'])}" for option in goal.options
        ]
        if number % 2:
            chosen = wanted_values(goal)
        yield product, chosen, replace(goal, options=tuple(options))


@pytest.mark.parametrize("n", [60, pytest.param(1_000, marks=pytest.mark.extended)])
def test_the_reward_is_the_released_formula(n: int) -> None:
    values = []
    for product, chosen, goal in purchases(n):
        value = reward(product, chosen, goal)
        assert value == pytest.approx(released(product, chosen, goal), abs=1e-12)
        values.append(value)
    assert {0.0, 1.0} < set(values)
    assert len(set(values)) > 8


@pytest.mark.extended
def test_nouns_are_those_of_a_tagger(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("en")
    ruler = pipeline.add_pipe("attribute_ruler")
    ruler.add([[{"LOWER": "lamp"}]], {"POS": "NOUN"})
    ruler.add([[{"LOWER": "bright"}]], {"POS": "ADJ"})
    folder = f"{tmp_path}/tagger"
    pipeline.to_disk(folder)
    assert tagged(folder)("Bright Lamp") == ("lamp",)
    lamp = replace(BOTTLE, title="Bright Lamp")
    other = replace(BOTTLE, title="Bright Bottle")
    assert kind_fit(other, lamp, tagged(folder)) == 0
    assert kind_fit(other, lamp) == 1
    with pytest.raises(ConfigError, match="wanted an installed spaCy pipeline, got"):
        tagged(f"{tmp_path}/none")
