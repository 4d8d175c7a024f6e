"""Masks in the place of secrets and of pieces of them."""

import re

MASK = "***"
IN_ANY_CASE = re.IGNORECASE | re.ASCII
SHORTEST = 8
"""Least length of a secret, and of a piece of one. No key is shorter, and a shorter
text would be masked in places where it is no secret.
"""


def masked(text: str, secret: str) -> str:
    """A text in which no long piece of a secret is left.

    Servers repeat keys, also the first or last characters alone, and models write them
    in another case.
    """
    starts = range(len(secret) - SHORTEST + 1)
    lower = text.lower()
    if not any(secret[i : i + SHORTEST].lower() in lower for i in starts):
        return text
    for length in range(len(secret), SHORTEST - 1, -1):
        for start in range(len(secret) - length + 1):
            piece = re.escape(secret[start : start + length])
            text = re.sub(piece, MASK, text, flags=IN_ANY_CASE)
    return text
