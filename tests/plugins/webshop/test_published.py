"""The published data, in its own format, and what is wrong with some."""

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gde.data.observation import IMPOSSIBLE
from gde.errors import ConfigError
from gde.seeding import generator
from gde_plugins.reward_prediction.config import Recipe
from gde_plugins.reward_prediction.domains import find_domain
from gde_plugins.reward_prediction.maker import Maker
from gde_plugins.webshop.config import WebshopConfig
from gde_plugins.webshop.environment import WebshopEnvironment
from gde_plugins.webshop.product import NO_BOUND, bounded
from gde_plugins.webshop.published import published_catalogue
from gde_plugins.webshop.reward import reward
from gde_plugins.webshop.shopper import wanted_values


def product(asin: str, name: str, **told: Any) -> dict[str, Any]:
    """A row as in items_shuffle.json."""
    values = {
        "color": [{"value": "Navy/White", "image": None}, {"value": "Red "}],
        "size": None,
    }
    base = {
        "asin": asin,
        "name": name,
        "query": " Lamp ",
        "category": "home",
        "product_category": "Home \u203a Lamps",
    }
    more = {
        "pricing": "$12.50",
        "small_description": ["bright"],
        "full_description": None,
        "images": ["x"],
    }
    return {**base, **more, "customization_options": values, **told}


def write(folder: Path, **wish: Any) -> Path:
    rows = [
        product("B01", "Bright Desk Lamp"),
        product(
            "B02",
            "Old Floor Lamp",
            pricing="$1,010.00 to $1,030.00",
            customization_options="",
        ),
        product("B03", "Plain Lamp", pricing=None),
    ]
    told = {
        "instruction": "a lamp, please.",
        "instruction_attributes": ["bright"],
        "instruction_options": ["red"],
    }
    wishes = {
        "B01": [{**told, **wish}, {**told, "instruction_attributes": []}],
        "B99": [told],
    }
    (folder / "items_shuffle_1000.json").write_text(json.dumps(rows))
    (folder / "items_ins_v2_1000.json").write_text(
        json.dumps({"B01": {"attributes": ["bright", "easy"]}})
    )
    (folder / "items_human_ins.json").write_text(json.dumps(wishes))
    return folder


def test_products_and_wishes_are_read(tmp_path: Path) -> None:
    catalogue = published_catalogue(write(tmp_path))
    lamp = catalogue.products["B01"]
    assert (lamp.query, lamp.category, lamp.price) == ("lamp", ("Home", "Lamps"), 12.5)
    assert lamp.options == {"color": ("navy | white", "red")}
    assert [catalogue.products[id].price for id in ("B02", "B03")] == [1_020.0, 100.0]
    (goal,) = catalogue.goals
    assert (goal.product, goal.attributes, goal.options) == (
        lamp,
        ("bright",),
        ("red",),
    )
    assert (
        goal.instruction
        == f"a lamp, please, and price lower than {goal.price:.2f} dollars"
    )
    assert catalogue.remarks[-1] == (
        "items_shuffle*.json: without a price, so $100.0: 1 (B03)"
    )
    assert 20 < goal.price <= 50
    assert [catalogue.products[id].price_tag for id in ("B01", "B02")] == [
        "$12.5",
        "$1010.0 to $1030.0",
    ]


def test_a_price_bound_is_the_higher_of_two_of_the_next_four_tens() -> None:
    def bounds(price: float) -> set[float]:
        return {bounded("a lamp", price, generator(i, "b"))[1] for i in range(40)}

    assert bounds(12.5) == {30.0, 40.0, 50.0}
    assert bounds(975.0) == {990.0}
    assert bounds(985.0) == {NO_BOUND}


def test_the_shopper_chooses_what_counts_as_the_same(tmp_path: Path) -> None:
    wanted = "Navy and White stripes"
    data = write(tmp_path, instruction_options=[wanted])
    (goal,) = published_catalogue(data).goals
    assert wanted_values(goal) == {"color": "navy | white"}
    assert reward(goal.product, wanted_values(goal), goal) == 1
    assert wanted_values(replace(goal, options=("purple",))) == {}


def test_a_folder_of_three_products_gives_pairs(tmp_path: Path) -> None:
    data = write(tmp_path, instruction_options=["Bright Red!"])
    maker = Maker(find_domain("webshop"), Recipe(), {"data": str(data)})
    pair = maker.pair(0)
    assert pair.positive.actions[-1] == "click[buy now]"
    (failure,) = pair.negatives
    assert max(step.raw for step in failure.steps) == 0


def test_wishes_are_in_the_released_order(tmp_path: Path) -> None:
    rows = [product(f"B{i:02}", f"Lamp number {i}") for i in range(12)]
    wish = {"instruction_attributes": ["bright"], "instruction_options": []}
    wishes = {
        row["asin"]: [{**wish, "instruction": f"lamp {row['asin']}"}] for row in rows
    }
    long = product("B0123456789", "An id of eleven letters")
    twice = product("B00", "Of the same id as the first")
    data = write(tmp_path)
    (data / "items_shuffle_1000.json").write_text(json.dumps([*rows, long, twice]))
    (data / "items_human_ins.json").write_text(json.dumps(wishes))

    catalogue = published_catalogue(data)
    assert len(catalogue.products) == 12
    assert catalogue.products["B00"].title == "Lamp number 0"
    order = [*range(12)]
    random.seed(233)
    random.shuffle(order)
    assert [goal.product.id for goal in catalogue.goals] == [f"B{i:02}" for i in order]


@pytest.mark.parametrize("search", ["suggested", "free"])
def test_the_shopper_fulfils_a_human_wish(tmp_path: Path, search: str) -> None:
    world = WebshopEnvironment(WebshopConfig(data=write(tmp_path), search=search))  # type: ignore[arg-type]
    assert len(world.worlds()) == 1
    world.reset(5)
    for action in world.demonstration():
        outcome = world.step(action)
    assert outcome.success == 1


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "items_human_ins.json",
            None,
            r"wanted items_human_ins.json in .*, got no such file",
        ),
        ("items_shuffle_1000.json", '[{"asin": "B0', "wanted JSON, got"),
        (
            "items_shuffle_1000.json",
            '[{"asin": "B01"}]',
            r"read 0, left out 1: 1 where name: wanted a value, got none \(B01\)",
        ),
        ("items_human_ins.json", "{}", "wanted a wish in items_human_ins.json"),
        (
            "items_human_ins.json",
            "[]",
            r"items_human_ins.json: wanted a dict, got \[\]",
        ),
    ],
)
def test_data_that_cannot_be_used_are_refused(
    tmp_path: Path, name: str, text: str | None, message: str
) -> None:
    path = write(tmp_path) / name
    path.unlink()
    if text is not None:
        path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        WebshopEnvironment(WebshopConfig(data=tmp_path))


@pytest.mark.parametrize(
    ("told", "price"),
    [
        ({"pricing": "24.99"}, 24.99),
        ({"pricing": "1,024"}, 1024),
        ({"pricing": " "}, 100),
        ({"pricing": "$5 to $10"}, 7.5),
        ({"pricing": "$100.00"}, 100),
    ],
)
def test_a_price_may_lack_its_sign(
    told: dict[str, Any], price: float, tmp_path: Path
) -> None:
    data = write(tmp_path)
    rows = [product("B01", "Bright Desk Lamp", **told)]
    (data / "items_shuffle_1000.json").write_text(json.dumps(rows))
    catalogue = published_catalogue(data)
    assert catalogue.products["B01"].price == price
    # A price of as much as the default is one.
    is_told = "without a price" in catalogue.remarks[-1]
    assert is_told == (not told["pricing"].strip())


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"pricing": "\u20ac24.99"}, "pricing: wanted an amount of dollars, got"),
        ({"pricing": "24,99"}, "pricing: wanted an amount of dollars, got '24,99'"),
        ({"name": None}, "name: wanted text, got None"),
        ({"query": None}, "query: wanted text, got None"),
        ({"product_category": None}, "product_category: wanted text, got None"),
        (
            {"customization_options": {"color": [{"value": None}]}},
            "customization_options.color.0.value: wanted text, got None",
        ),
    ],
)
def test_a_product_that_is_none_is_named_and_left_out(
    told: dict[str, Any], why: str, tmp_path: Path
) -> None:
    data = write(tmp_path)
    rows = [product("B01", "Bright Desk Lamp"), {**product("B07", "Odd Lamp"), **told}]
    (data / "items_shuffle_1000.json").write_text(
        json.dumps(rows), encoding="utf-8-sig"
    )
    world = WebshopEnvironment(WebshopConfig(data=data))
    assert len(world.worlds()) == 1
    first, second = world.remarks()
    assert first.startswith("items_shuffle*.json, products: read 1, left out 1: 1 ")
    assert why in first and first.endswith("(B07)")
    assert second == (
        "items_human_ins.json, wishes: read 1, left out 2:"
        " 1 without attributes (B01), 1 for products that are not there (B99)"
    )


def test_rows_without_an_id_of_their_own_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path) / "items_shuffle_1000.json"
    ids = ("B01", "nan", "B0123456789", "B01")
    more = [product(id, "Another Lamp") for id in ids]
    path.write_text(json.dumps(json.loads(path.read_text()) + more))
    catalogue = published_catalogue(tmp_path)
    assert catalogue.products["B01"].title == "Bright Desk Lamp"
    assert catalogue.remarks[0] == (
        "items_shuffle*.json, products: read 3, left out 4: 2 with the id of another"
        " (B01), 2 with an id that is none ('nan')"
    )


def test_a_wish_that_no_purchase_fulfils_is_impossible(tmp_path: Path) -> None:
    for number, (options, is_impossible) in enumerate(
        ((["red"], False), (["purple"], True))
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        data = write(folder, instruction_options=options)
        world = WebshopEnvironment(WebshopConfig(data=data))
        world.reset(0)
        assert (IMPOSSIBLE in world.world().facts) == is_impossible
