"""What a game's grammar may compute, and that it can run nothing."""

from types import SimpleNamespace

import pytest

pytest.importorskip("textworld", reason="needs the extra text-worlds")

from gde.errors import GdeError
from gde_plugins.text_worlds.alfworld.expressions import value_of

NAMES = {"o": SimpleNamespace(name="apple", indefinite="an", id=""), "n": 7}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("o.name", "apple"),
        (" o.indefinite + ' ' + o.name ", "an apple"),
        ("o.id or o.name", "apple"),
        ("o.name or o.missing", "apple"),
        ("n", 7),
    ],
)
def test_names_attributes_and_texts_are_read(expression: str, value: object) -> None:
    assert value_of(expression, NAMES) == value


@pytest.mark.parametrize(
    "expression",
    [
        "open('secret').read()",
        "__import__('os').system('true')",
        "o.__class__",
        "o._hidden",
        "[o for o in (1,)]",
        "(lambda: 1)()",
        "o.missing",
        "unknown",
        "f'{o}'",
        "o if n else o",
        "o['name']",
        "o.name; n",
        "o.name * 9",
        "",
        "(" * 9000,
        "-" * 9000 + "n",
    ],
)
def test_anything_else_is_refused(expression: str) -> None:
    with pytest.raises(GdeError, match="a game's grammar has"):
        value_of(expression, NAMES)
