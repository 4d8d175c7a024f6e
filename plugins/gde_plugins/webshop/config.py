"""Settings of the shop."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Interval

from gde.data.ranges import Count, Index
from gde.offers import FilePath


@dataclass(frozen=True, kw_only=True)
class WebshopConfig:
    """A generated catalogue with a random wish per seed, or the published data."""

    products: Annotated[int, Interval(ge=100, le=20_000)] = 1_200
    """Number of products of the generated catalogue."""
    catalogue_seed: Index = 0
    """Seed of the generated catalogue; wishes depend on the world's seed."""
    data: FilePath | None = None
    """Folder with the published data, used instead of a generated catalogue:
    `items_shuffle*.json`, `items_ins_v2*.json` and `items_human_ins.json`. Each human
    instruction is a world.
    """
    search: Literal["suggested", "free"] = "suggested"
    """Searches: suggestions, made of the words of the wish and of other kinds of
    products, or free text. Agents that choose from listed actions, such as random, need
    suggestions.
    """
    text: Literal["text_rich", "text"] = "text_rich"
    """Pages as in WebShop's text environment: text_rich marks what can be clicked with
    [button] and [clicked button]; text separates all texts by [SEP].
    """
    tagger: str = ""
    """spaCy pipeline that finds the nouns of titles, en_core_web_sm in the released
    code; empty: all words but numbers and stop words.
    """
    horizon: Count = 20
    """Maximum number of turns of an episode."""
