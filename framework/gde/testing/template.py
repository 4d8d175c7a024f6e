"""A folder with the smallest working plugin of a kind, as a start."""

import re
from importlib.resources import files
from pathlib import Path
from string import Template

from gde.errors import ConfigError
from gde.request.kinds import SKELETONS

PYPROJECT = """[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "gde-$dashed"
version = "0.1.0"
requires-python = ">=3.11"
dependencies = ["gde-eval"]

[project.optional-dependencies]
test = ["pytest"]

[project.entry-points.gde]
$name = "gde_$name"

[tool.hatch.build.targets.wheel]
only-include = ["gde_$name.py"]
"""


def write_plugin(name: str, out: Path | None = None, kind: str = "agent") -> Path:
    """Write a distribution with one part and its contract tests, and give its folder.

    Args:
        name: lower-case letters, digits and underscores.
        out: the folder to create; by default `gde-NAME` in the working directory.
        kind: a key of `SKELETONS`.

    Raises:
        ConfigError: the name or kind is not allowed, or the folder exists or is not
            writable.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise ConfigError(
            f"NAME: wanted lower-case letters, digits and underscores, got {name!r}"
        )
    if kind not in SKELETONS:
        raise ConfigError(f"--kind: wanted one of {', '.join(SKELETONS)}, got {kind!r}")

    dashed = name.replace("_", "-")
    folder = out or Path(f"gde-{dashed}")
    if folder.exists():
        raise ConfigError(f"{folder} exists: choose another folder with --out")

    texts = {
        "pyproject.toml": PYPROJECT,
        f"gde_{name}.py": _skeleton(kind),
        f"tests/test_{name}.py": _skeleton(f"{kind}_test"),
    }
    try:
        for path, text in texts.items():
            filled = Template(text).substitute(name=name, dashed=dashed)
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(filled, encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"cannot write {error.filename}: {error.strerror}; name another folder with --out"
        ) from error
    return folder


def _skeleton(name: str) -> str:
    return (
        files("gde.testing")
        .joinpath("skeletons", f"{name}.txt")
        .read_text(encoding="utf-8")
    )
