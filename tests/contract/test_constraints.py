"""constraints.txt pins what the project depends on, within the ranges that it
states; requirements.txt has the hashes of that.
"""

import ast
import re
import tomllib
from collections.abc import Iterator

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


def test_hashes_are_those_of_the_pins() -> None:
    entries = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    hashed: dict[str, str] = {}
    for entry in entries.replace("\\\n", " ").splitlines():
        requirement, *digests = entry.split(" --hash=")
        name, version = requirement.split(";")[0].strip().split("==")
        hashed.setdefault(name, version)
        assert digests
        assert all(re.fullmatch("sha256:[0-9a-f]{64}", one.strip()) for one in digests)

    pinned = PINS.keys() & hashed.keys()
    assert {name: hashed[name] for name in pinned} == {n: PINS[n] for n in pinned}
    extras = PROJECT["optional-dependencies"]
    needed = [*PROJECT["dependencies"], "hatchling"]
    for extra in ("llm", "probes", "report"):
        needed += extras[extra]
    assert {Requirement(one).name for one in needed} <= hashed.keys()


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


def test_extras_that_messages_and_pages_name_exist() -> None:
    files = [*ROOT.glob("framework/**/*.py"), *ROOT.glob("plugins/**/*.py")]
    files += [
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("examples/**/*"),
        ROOT / "README.md",
    ]
    named: set[str] = set()
    for file in files:
        if not file.is_file() or file.suffix not in {".py", ".md", ".ipynb", ".txt"}:
            continue
        text = file.read_text(encoding="utf-8")
        for extras in re.findall(r"\bgde(?:-eval)?\[([a-z][a-z, -]*)\]", text):
            named.update(extra.strip() for extra in extras.split(","))
        if file.suffix == ".py":
            named.update(named_by_errors(text))
    assert {"report", "frames", "datasets", "probes"} <= named
    assert named <= set(PROJECT["optional-dependencies"])


def named_by_errors(source: str) -> Iterator[str]:
    """The extras of `MissingExtra(part, packages, "extra")`, and likewise `needing`."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        if ast.unparse(node.func) in {"MissingExtra", "needing"}:
            extra = node.args[2]
            if isinstance(extra, ast.Constant):
                yield str(extra.value)


def test_verifiers_is_bounded_where_its_interface_changes() -> None:
    (verifiers,) = [
        requirement
        for requirement in map(
            Requirement, PROJECT["optional-dependencies"]["verifiers"]
        )
        if requirement.name == "verifiers"
    ]
    assert "0.3.1" in verifiers.specifier
    assert "0.4.0" not in verifiers.specifier
