"""The shop's pages, search and scripted shopper."""

import pytest

from gde.request.settings import build
from gde.seeding import generator
from gde.testing import check_environment
from gde.testing.context import PlainContext
from gde_plugins.webshop.config import WebshopConfig
from gde_plugins.webshop.environment import WebshopEnvironment
from gde_plugins.webshop.generated import FAMILY, generated_catalogue
from gde_plugins.webshop.index import FOUND, Index
from gde_plugins.webshop.pages import written
from gde_plugins.webshop.plugin import gde_environments
from gde_plugins.webshop.product import Catalogue, Product
from gde_plugins.webshop.reward import CLOSE, likeness
from gde_plugins.webshop.session import ON_A_PAGE, PARTS, Shop, Visit


@pytest.fixture(scope="module")
def shop() -> Shop:
    catalogue = generated_catalogue(1_200, 0)
    return Shop(catalogue, Index(catalogue))


@pytest.mark.parametrize("search", ["suggested", "free"])
def test_it_keeps_every_promise(search: str) -> None:
    (offer,) = gde_environments()
    actions = ("search[water bottle]", "search[]", "water bottle")
    config = build(offer.config, {"search": search}, "env")
    check_environment(
        lambda: offer.made(config, PlainContext()), gives=offer.gives, actions=actions
    )


def test_the_catalogue_is_varied_and_the_same_in_any_size(shop: Shop) -> None:
    products = shop.catalogue.products
    assert len(products) == 1_200
    assert len({one.query for one in products.values()}) >= 30
    assert all(
        len(one.attributes) >= 3 and one.options and one.price > 0
        for one in products.values()
    )
    smaller = generated_catalogue(500, 0).products
    assert list(products.items())[:500] == list(smaller.items())
    assert generated_catalogue(500, 1).products.keys().isdisjoint(smaller)


def pages(shop: Shop, product: Product) -> list[str]:
    """Every page of a product."""
    opened = Visit(page="product", product=product.id)
    visits = [opened, *(shop.click(opened, part) for part in PARTS)]
    return [written(shop, visit, "text_rich").lower() for visit in visits]


def test_no_page_lists_the_attributes_and_each_stands_in_one_text(shop: Shop) -> None:
    for product in list(shop.catalogue.products.values())[::50]:
        texts = pages(shop, product)
        assert not any("attributes" in text for text in texts)
        for attribute in product.attributes:
            told = [attribute in text for text in product.prose]
            assert sum(told) == 1


def test_siblings_say_something_near_to_the_attribute_that_they_lack(
    shop: Shop,
) -> None:
    products = [*shop.catalogue.products.values()]
    n_kinds = len({one.query for one in products})
    families = [products[i : i + FAMILY * n_kinds : n_kinds] for i in range(n_kinds)]
    for first, *siblings in families:
        for sibling in siblings:
            assert (sibling.title, sibling.query) == (first.title, first.query)
            (lacking,) = set(first.attributes) - set(sibling.attributes)
            assert all(likeness(own, lacking) <= CLOSE for own in sibling.attributes)
            assert not any(lacking in text for text in sibling.prose)


def test_search_finds_what_has_the_words_best_first(shop: Shop) -> None:
    found = [
        shop.catalogue.products[id]
        for id in shop.index.search("gluten free oat cookies")
    ]
    assert len(found) == FOUND
    assert found[0].query == "oat cookies"
    assert any("gluten free" in text for text in found[0].prose)
    assert (
        shop.index.search("zzz")
        == shop.index.search("")
        == shop.index.search('"*(')
        == ()
    )


def test_titles_find_their_products(shop: Shop) -> None:
    for product in list(shop.catalogue.products.values())[::40]:
        assert product.id in shop.index.search(product.title)


def test_results_are_turned_page_by_page(shop: Shop) -> None:
    visit, seen = Visit(page="results", query="water resistant"), list[str]()
    while True:
        seen += shop.shown(visit)
        text = written(shop, visit, "text_rich")
        assert (
            f"Page {visit.number + 1} (Total results: {len(shop.results(visit))})"
            in text
        )
        assert all(f"[button] {id} [button_]" in text for id in shop.shown(visit))
        if "next >" not in shop.clicks(visit):
            break
        visit = shop.click(visit, "next >")
    assert seen == list(shop.results(visit))
    assert visit.number == -(-len(seen) // ON_A_PAGE) - 1
    assert "< prev" in shop.clicks(visit)


def test_pages_lead_back_to_where_they_came_from(shop: Shop) -> None:
    results = Visit(page="results", query="table lamp")
    id = shop.shown(results)[0]
    product = shop.click(results, id.lower())
    color = shop.product(product).options["color"][1]
    chosen = shop.click(product, color)
    assert chosen.chosen == {"color": color}
    for part in PARTS:
        opened = shop.click(chosen, part)
        assert shop.click(opened, "< prev") == chosen
        assert shop.click(opened, "back to search") == Visit()
    back = shop.click(chosen, "< prev")
    assert back.page == "results"
    assert f"[clicked button] {id} [clicked button_]" in written(
        shop, back, "text_rich"
    )


LAMP = Product(
    id="B012345678",
    title="Bright Lamp",
    query="lamp",
    category=("Home", "Lamps", "Lamp"),
    attributes=("easy to clean",),
    options={"color": ("red", "blue")},
    price=12.5,
    price_tag="$12.5",
    features=("Lights up",),
)


def test_pages_are_those_of_the_text_environment() -> None:
    catalogue = Catalogue(products={LAMP.id: LAMP})
    shop = Shop(catalogue, Index(catalogue))
    results = Visit(page="results", query="lamp")
    product = shop.click(results, "b012345678")
    chosen = shop.click(product, "blue")
    assert written(shop, Visit(), "text_rich") == "[button] Search [button_]"
    assert written(shop, results, "text_rich") == (
        "[button] Back to Search [button_]\nPage 1 (Total results: 1)\n\n"
        "[button] B012345678 [button_]\nBright Lamp\n$12.5"
    )
    assert written(shop, chosen, "text_rich") == (
        "You have clicked blue.\n"
        "[button] Back to Search [button_]\n[button] < Prev [button_]\ncolor\n"
        "  [button] red [button_]\n  [clicked button] blue [clicked button_]\n"
        "Bright Lamp\nPrice: $12.5\nRating: N.A.\n[button] Description [button_]\n"
        "[button] Features [button_]\n[button] Reviews [button_]\n[button] Buy Now [button_]"
    )
    assert written(shop, shop.click(chosen, "features"), "text") == (
        "Back to Search [SEP] < Prev [SEP] Lights up"
    )
    assert "No Description" in written(shop, shop.click(chosen, "description"), "text")
    assert written(shop, shop.click(chosen, "buy now"), "text_rich") == (
        "Thank you for shopping with us!"
    )


@pytest.mark.parametrize("search", ["suggested", "free"])
def test_the_shopper_fulfils_every_wish_from_anywhere(search: str) -> None:
    world = WebshopEnvironment(WebshopConfig(search=search))  # type: ignore[arg-type]
    for seed in range(40):
        observation, rng = world.reset(seed), generator(seed, "walk")
        for _ in range(seed % 7):
            moves = [
                action
                for action in observation.actions or ["search[lamp]"]
                if "buy" not in action
            ]
            observation = world.step(str(rng.choice(moves))).observation
        for action in world.demonstration():
            outcome = world.step(action)
        assert (outcome.terminated, outcome.success) == (True, 1.0)
        assert world.demonstration() == []


def test_suggested_searches_say_no_more_than_the_wish() -> None:
    world = WebshopEnvironment(WebshopConfig())
    for seed in range(20):
        actions = world.reset(seed).actions or ()
        said = world.task().objective.lower()
        kinds = {action[len("search[") : -1] for action in actions}
        own = {query for query in kinds if all(word in said for word in query.split())}
        others = kinds - own
        assert 3 <= len(others) <= 4
        assert str(world.world().labels["kind"]) not in others


def test_a_part_of_the_wish_is_a_score_and_no_success() -> None:
    world = WebshopEnvironment(WebshopConfig())
    world.reset(0)
    actions = [*world.demonstration()]
    options = [action for action in actions[2:-1] if "next >" not in action]
    for action in actions:
        if action != options[0]:
            outcome = world.step(action)
    assert 0 < outcome.reward < 1
    assert outcome.success == 0


def test_free_search_leads_nowhere_without_the_form() -> None:
    world = WebshopEnvironment(WebshopConfig(search="free"))
    first = world.reset(0)
    assert first.actions is None
    assert world.step("buy everything").observation == first
    assert "Page 1 (Total" in world.step("search[mint tea]").observation.text
