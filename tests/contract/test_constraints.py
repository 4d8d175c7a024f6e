"""constraints.txt pins what the project depends on, within the ranges that it
states.
"""

import re
import tomllib

from packaging.requirements import Requirement
from packaging.version import Version
from sources import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]
STATED = [
    *PROJECT["dependencies"],
    *(each for extra in PROJECT["optional-dependencies"].values() for each in extra),
]
REQUIREMENTS = sorted({each for each in STATED if not each.startswith("gde-eval")})
LINES = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
PINS = dict(line.split("==") for line in LINES)


def test_a_line_is_a_name_and_a_version() -> None:
    assert all(
        re.fullmatch(r"[a-z0-9-]+==[0-9.]+(post[0-9]+)?", line) for line in LINES
    )
    assert LINES[0] == "torch==2.13.0"


def test_direct_dependencies_are_pinned_within_their_ranges() -> None:
    assert REQUIREMENTS
    requirements = [Requirement(stated) for stated in REQUIREMENTS]
    offenders = [
        str(each)
        for each in requirements
        if Version(PINS[each.name]) not in each.specifier
    ]
    assert not offenders


def test_extras_that_are_named_by_parts_exist() -> None:
    from gde.request.catalogue import Catalogue
    from gde.request.kinds import KINDS

    catalogue = Catalogue.default()
    named = {
        entry.offer.extra
        for kind in KINDS
        for entry in catalogue.entries(kind)
        if entry.offer.extra and entry.module.startswith(("gde.", "gde_plugins."))
    }
    assert named <= set(PROJECT["optional-dependencies"])
