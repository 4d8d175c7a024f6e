"""The shop's pages, search and scripted shopper."""

import pytest

from gde.request.settings import build
from gde.seeding import generator
from gde.testing import check_environment
from gde.testing.context import PlainContext
from gde_plugins.webshop.config import WebshopConfig
from gde_plugins.webshop.environment import WebshopEnvironment
from gde_plugins.webshop.generated import generated_catalogue
from gde_plugins.webshop.index import FOUND, Index
from gde_plugins.webshop.plugin import gde_environments
from gde_plugins.webshop.session import ON_A_PAGE, Shop, Visit


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
        lambda: offer.make(config, PlainContext()), gives=offer.gives, actions=actions
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


def test_search_finds_what_has_the_words_best_first(shop: Shop) -> None:
    found = [
        shop.catalogue.products[id]
        for id in shop.index.search("gluten free oat cookies")
    ]
    assert len(found) == FOUND
    assert found[0].query == "oat cookies"
    assert "gluten free" in found[0].attributes
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
        assert all(f"[{id.lower()}]" in shop.text(visit) for id in shop.shown(visit))
        if "next >" not in shop.clicks(visit):
            break
        visit = shop.click(visit, "next >")
    assert seen == list(shop.results(visit))
    assert visit.number == -(-len(seen) // ON_A_PAGE) - 1
    assert "< prev" in shop.clicks(visit)


def test_pages_lead_back_to_where_they_came_from(shop: Shop) -> None:
    results = Visit(page="results", query="desk")
    results = Visit(page="results", query="table lamp")
    product = shop.click(results, shop.shown(results)[0].lower())
    color = shop.product(product).options["color"][1]
    chosen = shop.click(product, color)
    assert (chosen.chosen, f"[{color}]" in shop.text(chosen)) == (
        {"color": color},
        True,
    )
    for part in ("description", "features", "attributes"):
        opened = shop.click(chosen, part)
        assert shop.product(opened).title in shop.text(opened)
        assert shop.click(opened, "< prev") == chosen
        assert shop.click(opened, "back to search") == Visit()
    assert shop.click(chosen, "< prev").page == "results"


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


def test_the_wish_is_hidden_among_suggestions() -> None:
    world = WebshopEnvironment(WebshopConfig())
    for seed in range(20):
        actions = world.reset(seed).actions or ()
        kind = str(world.world().labels["kind"])
        unrelated = [action for action in actions if kind not in action]
        assert len(unrelated) >= 3
        assert not any(
            str(world.world().facts["product"]) in action for action in actions
        )


def test_free_search_leads_nowhere_without_the_form() -> None:
    world = WebshopEnvironment(WebshopConfig(search="free"))
    first = world.reset(0)
    assert first.actions is None
    assert world.step("buy everything").observation == first
    assert "Page 1 of" in world.step("search[mint tea]").observation.text
