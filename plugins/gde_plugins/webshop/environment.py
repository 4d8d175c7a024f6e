"""The shop as an environment."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache
from hashlib import sha256

from gde.data.json import Json
from gde.data.observation import IMPOSSIBLE, Observation, Outcome, State, Task, World
from gde.errors import GdeError
from gde.offers import FilePath
from gde.seeding import generator
from gde_plugins.webshop.config import WebshopConfig
from gde_plugins.webshop.generated import generated_catalogue, random_goal
from gde_plugins.webshop.index import Index
from gde_plugins.webshop.pages import written
from gde_plugins.webshop.product import Goal
from gde_plugins.webshop.published import published_catalogue
from gde_plugins.webshop.reward import reward
from gde_plugins.webshop.session import BUY, SEARCH, Shop, Visit
from gde_plugins.webshop.shopper import script, suggestions, wanted_values
from gde_plugins.webshop.titles import tagged, words

TRIES = 100
"""Maximum number of wishes drawn for a seed to find one that can be fulfilled in full.
"""
MOST_TRIED = 50_000
"""Products of the largest catalogue in which a wish is proved to be impossible."""
RULES = """search[WORDS] shows products that have these words, best first.
click[NAME] follows a button of the page: a product, an option of it, another page, or "buy now", which is the end."""


class WebshopEnvironment:
    """Implements `HasState`, `HasDemonstration`, `HasSnapshot`, `HasWorlds` and `HasRemarks` of
    `gde.parts.environment`.

    Only the purchase earns a reward, see `reward`. It is a success if that is 1.
    """

    def __init__(self, config: WebshopConfig) -> None:
        """Open the shop.

        Raises:
            ConfigError: the published data cannot be used.
        """
        self._config = config
        self._shop = _shop(config.products, config.catalogue_seed, config.data)
        self._nouns = tagged(config.tagger) if config.tagger else words
        self._goal: Goal | None = None
        self._searches: tuple[str, ...] = ()
        self._visit = Visit()

    def worlds(self) -> Sequence[str]:
        """Return the human wishes of the published data; none if seeds draw wishes."""
        goals = self._shop.catalogue.goals
        return [f"{i} {_digest(goal)}" for i, goal in enumerate(goals)]

    def remarks(self) -> Sequence[str]:
        """Return what was left out of the published data, and why."""
        return self._shop.catalogue.remarks

    def reset(self, seed: int) -> Observation:
        """Begin with the wish of this seed, or number `seed` (modulo their number) of
        the published ones.

        Raises:
            GdeError: the catalogue has no wish that can be fulfilled in full.
        """
        listed = self._shop.catalogue.goals
        if listed:
            self._goal = listed[seed % len(listed)]
            self._searches = self._suggested(self._goal)
        else:
            self._goal, self._searches = self._drawn(seed)
        self._visit = Visit()
        return self._observe()

    def task(self) -> Task:
        return Task(
            objective=self._wish.instruction,
            rules=RULES,
            horizon=self._config.horizon,
        )

    def world(self) -> World:
        """Facts are the wish (`objective`, `attributes`, `options`, `price`) and
        `product`, the id of the product that it was written for. The label `kind` is
        the wanted kind of product. A wish that no purchase fulfils has the fact
        `impossible`.
        """
        goal = self._wish
        products = self._shop.catalogue.products
        proof: dict[str, Json] = {}
        if self._unfulfillable(goal):
            proof[IMPOSSIBLE] = f"none of {len(products)} products earns 1"
        return World(
            id=_digest(goal),
            facts={
                "objective": goal.instruction,
                "attributes": [*goal.attributes],
                "options": [*goal.options],
                "price": goal.price,
                "product": goal.product.id,
                **proof,
            },
            labels={"kind": goal.product.query},
        )

    def state(self) -> State:
        """Facts are the `page`, `query`, page `number`, open `product`, `chosen`
        options, products `opened` so far, and `view`, the page.
        """
        return State(facts={**asdict(self._visit), "view": self._text()})

    def demonstration(self) -> Sequence[str]:
        """Return the actions of a scripted shopper, who knows the wish's own product."""
        goal = self._wish
        searches = self._searches
        if self._config.search == "free":
            searches = (*searches, goal.product.title)
        return script(self._shop, goal, self._visit, searches)

    def step(self, action: str) -> Outcome:
        """Search or click.

        Free search takes any text; a text of another form leads nowhere.
        """
        if self._visit.page == "done":
            raise ValueError(
                "the episode is over, something was bought: call reset(seed)"
            )
        admissible = self._actions()
        if admissible is not None and action not in admissible:
            raise ValueError(
                f"the shop takes here {', '.join(admissible)}; got {action!r}"
            )

        verb, _, rest = action.partition("[")
        name = rest[:-1]
        if verb == SEARCH and rest.endswith("]"):
            self._visit = Visit(page="results", query=name)
        elif self._visit.page != "search":
            self._visit = self._shop.click(self._visit, name)
        observation = self._observe()
        if self._visit.page != "done":
            return Outcome.running(observation)

        product = self._shop.product(self._visit)
        worth = reward(product, self._visit.chosen, self._wish, self._nouns)
        return Outcome.terminal(observation, worth, success=float(worth == 1))

    def snapshot(self) -> Visit:
        return self._visit

    def restore(self, snapshot: object) -> Observation:
        if not isinstance(snapshot, Visit):
            raise ValueError(f"wanted a snapshot of this episode, got {snapshot!r}")
        self._visit = snapshot
        return self._observe()

    def reseed(self, seed: int) -> None:
        """Nothing is random."""

    def close(self) -> None:
        """The catalogue is shared by all of a process and kept."""

    @property
    def _wish(self) -> Goal:
        if self._goal is None:
            raise GdeError("the shop has no episode yet: call reset(seed) first")
        return self._goal

    def _unfulfillable(self, goal: Goal) -> bool:
        """Return whether it is proved that no purchase fulfils a wish in full."""
        products = self._shop.catalogue.products
        if len(products) > MOST_TRIED:
            return False
        # The wish's own product, which is tried first, seldom fails.
        for product in (goal.product, *products.values()):
            every = [value for values in product.options.values() for value in values]
            # As if all values of an option could be chosen together.
            chosen = {str(place): value for place, value in enumerate(every)}
            if reward(product, chosen, goal, self._nouns) == 1:
                return False
        return True

    def _drawn(self, seed: int) -> tuple[Goal, tuple[str, ...]]:
        """Draw a wish that the scripted shopper can fulfil in full, with its suggested
        searches.
        """
        rng = generator(
            seed, "webshop", self._config.products, self._config.catalogue_seed
        )
        for _ in range(TRIES):
            goal = random_goal(self._shop.catalogue, rng)
            searches = self._suggested(goal)
            actions = script(self._shop, goal, Visit(), searches)
            chosen = wanted_values(goal)
            if actions and reward(goal.product, chosen, goal, self._nouns) == 1:
                return goal, searches
        raise GdeError(
            f"webshop: no wish that can be fulfilled in {TRIES} draws: set a larger env.products"
        )

    def _suggested(self, goal: Goal) -> tuple[str, ...]:
        # By the wish rather than the seed: equal worlds suggest the same.
        rng = generator(0, "suggestions", _digest(goal))
        return suggestions(self._shop, goal, rng)

    def _actions(self) -> tuple[str, ...] | None:
        """Return the admissible actions; None on the search page of free search."""
        if self._visit.page == "done":
            # The last observation lists the purchase that led to it.
            return (f"click[{BUY}]",)
        if self._visit.page != "search":
            links = self._shop.clicks(self._visit)
            return tuple(f"click[{link}]" for link in links)
        if self._config.search == "free":
            return None
        return tuple(f"{SEARCH}[{query}]" for query in self._searches)

    def _observe(self) -> Observation:
        return Observation(text=self._text(), actions=self._actions())

    def _text(self) -> str:
        return written(self._shop, self._visit, self._config.text)


@lru_cache(maxsize=4)
def _shop(products: int, seed: int, data: FilePath | None) -> Shop:
    """Open the shop of a configuration, once per process."""
    if data is not None:
        catalogue = published_catalogue(data)
    else:
        catalogue = generated_catalogue(products, seed)
    return Shop(catalogue, Index(catalogue))


def _digest(goal: Goal) -> str:
    content = f"{goal.product.id} {goal.instruction}"
    return sha256(content.encode()).hexdigest()[:16]
