"""Whatever is cited is listed in docs/references.md."""

import re
from collections import Counter
from collections.abc import Iterator

from sources import ROOT

REFERENCES = ROOT / "docs" / "references.md"
TREES = (
    "framework",
    "plugins",
    "docs",
    "examples",
    "benchmarks",
    "README.md",
    "CONTRIBUTING.md",
)
WRITTEN = {".py", ".md", ".j2", ".toml"}

KEY = re.compile(r"^- \*\*(.+?)\*\*", re.MULTILINE)
BREAK = re.compile(r"\s*\n\s*(?:#+ )?")
NAME = r"[^\W\d_a-z][\w'-]+"
CITATION = re.compile(
    rf"\b(?P<any>{NAME}(?: et al\.| (?:and|&) {NAME})?) \((?P<any_year>(?:19|20)\d\d[a-z]?)\)"
    rf"|\b(?P<many>{NAME}(?: et al\.| (?:and|&) {NAME})),? (?P<many_year>(?:19|20)\d\d[a-z]?)\b"
    rf"|(?:\(|[,;:] )(?P<one>{NAME}),? (?P<one_year>(?:19|20)\d\d[a-z]?)(?=[),;])"
)
"""A key in running text; within parentheses without its own; a single name there only
between punctuation marks ("in May 2025").
"""
BY_NUMBER = re.compile(r"\bpapers?[ _-]?0\d\d\b", re.IGNORECASE)


def citations(text: str) -> Iterator[str]:
    """Every citation as its key, across line breaks."""
    for found in CITATION.finditer(BREAK.sub(" ", text)):
        name = found["any"] or found["many"] or found["one"]
        yield f"{name} ({found['any_year'] or found['many_year'] or found['one_year']})"


def texts() -> Iterator[tuple[str, str]]:
    """Name and text of everything that a user or a contributor reads, the list of
    references left out.
    """
    for tree in TREES:
        path = ROOT / tree
        for each in [path] if path.is_file() else sorted(path.rglob("*")):
            if each.suffix in WRITTEN and each != REFERENCES:
                yield str(each.relative_to(ROOT)), each.read_text(encoding="utf-8")


def keys() -> list[str]:
    """Of all references."""
    return KEY.findall(REFERENCES.read_text(encoding="utf-8"))


def test_citations_are_found_in_all_their_forms() -> None:
    text = """Nobody (1801), Doe (1999) and Roe and Doe (2001); as in Doe-Roe et al. (2002). A rule (Müller 2003), one
    of two (see Roe et
    # al. 2004, section 3; Doe 2005), "square and add": Poe 2006, and Doe & Poe 2007. In May 2008 it took 2000 steps."""
    assert list(citations(text)) == [
        "Doe (1999)",
        "Roe and Doe (2001)",
        "Doe-Roe et al. (2002)",
        "Müller (2003)",
        "Roe et al. (2004)",
        "Doe (2005)",
        "Poe (2006)",
        "Doe & Poe (2007)",
    ]
    assert [
        bool(BY_NUMBER.search(each))
        for each in ("see Paper 000", "paper 002's", "on paper 12")
    ] == [
        True,
        True,
        False,
    ]


def test_every_citation_is_listed() -> None:
    known = set(keys())
    unknown = {
        f"{name}: {each}"
        for name, text in texts()
        for each in citations(text)
        if each not in known
    }
    assert not unknown, "add to docs/references.md"


def test_the_search_reaches_code_and_pages() -> None:
    cited = Counter(each for _, text in texts() for each in citations(text))
    assert (
        min(
            cited[key]
            for key in (
                "Arghal et al. (2026)",
                "MacDermott et al. (2024)",
                "Holm (1979)",
            )
        )
        > 2
    )


def test_keys_have_the_form_of_citations_and_are_told_apart() -> None:
    assert [list(citations(key)) for key in keys()] == [[key] for key in keys()]
    assert len(set(keys())) == len(keys())


def test_no_source_is_called_by_a_number() -> None:
    assert not {name for name, text in texts() if BY_NUMBER.search(text)}
