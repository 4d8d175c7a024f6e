"""Links of the pages to files outside this folder, which a site does not have, as plain
names of those files.
"""

import re

OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+([^)\s]+)\)")


def on_page_markdown(markdown: str, page: object, **_: object) -> str:
    """Called by MkDocs with the text of each page; links within the folder stay."""
    path: str = page.file.src_uri  # type: ignore[attr-defined]
    return OUTSIDE.sub(r"`\2`", markdown) if "/" not in path else _of_folder(markdown)


def _of_folder(markdown: str) -> str:
    """In a folder below, one step up is still inside."""
    return re.sub(r"\[([^\]]+)\]\((?:\.\./){2,}([^)\s]+)\)", r"`\2`", markdown)
