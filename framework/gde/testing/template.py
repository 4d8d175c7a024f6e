"""The smallest plugin that works, of any kind, as a folder to start from."""

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
    """Write a distribution with one part and its contract tests. Gives its folder.

    Args:
        name: lower-case letters, digits and underscores.
        out: the folder to make; `gde-NAME` here where none is named.
        kind: of `SKELETONS`.

    Raises:
        ConfigError: another name or kind is wanted, or the folder exists or cannot be made.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise ConfigError(f"NAME: wanted lower-case letters, digits and underscores, got {name!r}")
    if kind not in SKELETONS:
        raise ConfigError(f"--kind: wanted one of {', '.join(SKELETONS)}, got {kind!r}")
    dashed = name.replace("_", "-")
    folder = out or Path(f"gde-{dashed}")
    if folder.exists():
        raise ConfigError(f"{folder} exists: name another folder with --out")
    texts = {
        "pyproject.toml": PYPROJECT,
        f"gde_{name}.py": _skeleton(kind),
        f"tests/test_{name}.py": _skeleton(f"{kind}_test"),
    }
    try:
        for path, text in texts.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(Template(text).substitute(name=name, dashed=dashed), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write {error.filename}: {error.strerror}; name another folder with --out") from error
    return folder


def _skeleton(name: str) -> str:
    return files("gde.testing").joinpath("skeletons", f"{name}.txt").read_text(encoding="utf-8")
