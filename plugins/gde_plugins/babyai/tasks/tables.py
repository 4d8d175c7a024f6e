"""Tables of Markdown with one action a row, as lists."""

import re

ROW = re.compile(r"^[ \t]*\|(.*)\|[ \t]*$")
RULE = re.compile(r"[\s|:-]+")
COUNT = re.compile(r"(?:count|times|repeat\w*|repetitions?|how often|n)", re.IGNORECASE)
ACTION = re.compile(r"(?:actions?|moves?|commands?)", re.IGNORECASE)


def as_lists(text: str) -> str:
    """The text with each table that has a column of actions as a list of them."""
    lines: list[str] = []
    head: list[str] = []
    for line in text.splitlines():
        row = ROW.match(line)
        if row is None:
            head = []
            lines.append(line)
            continue
        cells = [cell.strip() for cell in row[1].split("|")]
        is_head = not head
        head = head or cells
        if not any(map(ACTION.fullmatch, head)):
            lines.append(line)
        elif not is_head and not RULE.fullmatch(line):
            lines.append(_item(head, cells))
    return "\n".join(lines)


def _item(head: list[str], cells: list[str]) -> str:
    """The action of a row, and how often it is done."""
    named = dict(zip(head, cells, strict=False))
    actions = [cell for name, cell in named.items() if ACTION.fullmatch(name)]
    counts = [f"x{cell}" for name, cell in named.items() if COUNT.fullmatch(name)]
    return " ".join(["-", *actions, *counts])
