"""Text that others wrote, on the way to a terminal: a model, a plugin or a folder must not steer it."""

import re

STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters but for the end of a line and the tab, those that turn the direction of writing, and halves of
characters, which no terminal can be sent."""


def shown(text: str) -> str:
    """The text with a visible stand-in for every character that steers."""
    return STEERING.sub("\ufffd", text)


def escaped(text: str) -> str:
    """JSON, in which such characters stand as escapes: it stays the same value."""
    return STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
