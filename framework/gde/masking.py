"""Masks in the place of secrets and of pieces of them."""

MASK = "***"
SHORTEST = 8
"""Least length of a secret, and of a piece of one. No key is shorter, and a shorter
text would be masked in places where it is no secret.
"""


def masked(text: str, secret: str) -> str:
    """A text in which no long piece of a secret is left.

    Servers repeat keys, also the first or last characters alone.
    """
    starts = range(len(secret) - SHORTEST + 1)
    if not any(secret[start : start + SHORTEST] in text for start in starts):
        return text
    for length in range(len(secret), SHORTEST - 1, -1):
        for start in range(len(secret) - length + 1):
            text = text.replace(secret[start : start + length], MASK)
    return text
