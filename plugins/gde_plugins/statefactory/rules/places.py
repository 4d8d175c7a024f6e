"""Places in words that tell how far they are apart."""


def lines(row: int, column: int, height: int, width: int) -> dict[str, str]:
    """A place as the lines on each side of it, so that places that are closer have more words in common."""
    return {
        "rows above": _numbers(0, row),
        "rows below": _numbers(row + 1, height),
        "columns to the left": _numbers(0, column),
        "columns to the right": _numbers(column + 1, width),
    }


def _numbers(first: int, end: int) -> str:
    return " ".join(map(str, range(first, end))) or "none"
