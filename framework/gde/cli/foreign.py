"""Foreign text made safe for the terminal.

The text comes from models, plugins and folders.
"""

import re
import sys

STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters except line end and tab, characters that turn the direction of
writing, and lone surrogates, which cannot be sent to a terminal.
"""

LONGEST = 2000
"""The most characters of a message."""


def shown(text: str) -> str:
    """The text with a visible character in the place of every one that steers."""
    return STEERING.sub("\ufffd", text)


def one_line(text: str) -> str:
    """A message as one line; files of others may have put anything into it."""
    line = shown(" ".join(text.split()))
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}..."


def escaped(text: str) -> str:
    """The same JSON value with escapes in the place of characters that steer."""
    return STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class Escaping:
    """Standard output for JSON that others have written."""

    def write(self, text: str) -> int:
        """Write with escapes in the place of characters that steer."""
        return sys.stdout.write(escaped(text))
