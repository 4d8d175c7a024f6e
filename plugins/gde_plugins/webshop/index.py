"""Search over a catalogue: BM25 by the full-text engine of SQLite."""

import re
import sqlite3
from functools import lru_cache
from threading import Lock
from weakref import finalize

from gde_plugins.webshop.product import Catalogue

FOUND = 50
"""Maximum number of results of a search."""
REMEMBERED = 10_000
"""Number of searches kept in memory, since a page needs its results again and again."""
WORD = re.compile(r"[^\W_]+")
ENGLISH = """
a an and are as at be but by for if in into is it no not of on or such that the their
then there these they this to was will with
"""
STOP_WORDS = frozenset(ENGLISH.split())
"""Words that a search ignores, those of Lucene's English analyser, as in the original."""
CREATE = "CREATE VIRTUAL TABLE product USING fts5(id UNINDEXED, words, tokenize='porter unicode61')"
INSERT = "INSERT INTO product VALUES (?, ?)"
SELECT = (
    "SELECT id FROM product WHERE product MATCH ? ORDER BY bm25(product), rowid LIMIT ?"
)


class Index:
    """Finds products by the words of a query; safe to use from several threads."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._lock = Lock()
        self._found = lru_cache(REMEMBERED)(self._search)
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        # The cache refers to the index and the index to the cache: only the collector of
        # garbage ends it, and Python 3.13 warns of a database that nobody has closed.
        finalize(self, self._database.close)
        self._database.execute(CREATE)
        for product in catalogue.products.values():
            self._database.execute(INSERT, (product.id, product.contents))

    def search(self, query: str) -> tuple[str, ...]:
        """Return the ids of the products with a word of the query, best first.

        Ties are in catalogue order.
        """
        # Sorted and unique, so that queries of the same words share one result.
        words = set(WORD.findall(query.lower())) - STOP_WORDS
        return self._found(tuple(sorted(words)))

    def _search(self, words: tuple[str, ...]) -> tuple[str, ...]:
        if not words:
            return ()
        quoted = " OR ".join(f'"{word}"' for word in words)
        with self._lock:
            rows = self._database.execute(SELECT, (quoted, FOUND)).fetchall()
        return tuple(id for (id,) in rows)
