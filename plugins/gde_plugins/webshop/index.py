"""Search over a catalogue: BM25 by the full-text engine of SQLite."""

import re
import sqlite3
from functools import lru_cache
from threading import Lock

from gde_plugins.webshop.product import Catalogue

FOUND = 50
"""Products that a search finds at most."""
REMEMBERED = 10_000
"""Searches whose results are kept: a page asks for its results again and again."""
WORD = re.compile(r"[^\W_]+")


class Index:
    """Finds products by the words of a query; may be asked by several threads."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._lock = Lock()
        self._found = lru_cache(REMEMBERED)(self._search)
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        self._database.execute(
            "CREATE VIRTUAL TABLE product USING fts5(id UNINDEXED, words, tokenize='porter unicode61')"
        )
        rows = ((one.id, " ".join((one.prose, *one.category, *one.attributes))) for one in catalogue.products.values())
        self._database.executemany("INSERT INTO product VALUES (?, ?)", rows)

    def search(self, query: str) -> tuple[str, ...]:
        """Ids of the products that have a word of the query, best first; equally good ones in catalogue order."""
        return self._found(tuple(sorted({*WORD.findall(query.lower())})))

    def _search(self, words: tuple[str, ...]) -> tuple[str, ...]:
        if not words:
            return ()
        wanted = " OR ".join(f'"{word}"' for word in words)
        with self._lock:
            rows = self._database.execute(
                "SELECT id FROM product WHERE product MATCH ? ORDER BY bm25(product), rowid LIMIT ?", (wanted, FOUND)
            )
            return tuple(str(id) for (id,) in rows)
