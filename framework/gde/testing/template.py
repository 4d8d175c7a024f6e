"""The smallest plugin that works, as a folder to start from."""

import re
from pathlib import Path
from string import Template

from gde.errors import ConfigError

PYPROJECT = Template("""[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "gde-$dashed"
version = "0.1.0"
requires-python = ">=3.11"
dependencies = ["gde-eval"]

[project.entry-points.gde]
$name = "gde_$name"
""")
MODULE = Template('''"""A gde plugin: the agent `$dashed`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gde import Brief, Context, Decision, Observation, Offer, hookimpl


@dataclass(frozen=True)
class Config:
    """Configuration of the agent."""

    index: int = 0
    """Which of the admissible actions is always taken."""


@dataclass
class FirstAction:
    """Takes the same admissible action in every turn."""

    config: Config

    def begin(self, brief: Brief) -> None:
        """Nothing to prepare."""

    async def act(self, observation: Observation) -> Decision:
        """The chosen action."""
        actions = observation.actions or ("",)
        return Decision.act(actions[self.config.index % len(actions)])


def make(config: Config, _: Context) -> FirstAction:
    """An agent for one episode; the context gives it language models and the like."""
    return FirstAction(config)


@hookimpl
def gde_agents() -> Sequence[Offer[Any, Any]]:
    """Offer the agent."""
    return (Offer(name="$dashed", summary="Takes one action always.", config=Config, make=make),)
''')
TEST = Template('''"""The agent keeps the promises of its protocol."""

import gde_$name
from gde.testing import check_plugin


def test_contract() -> None:
    check_plugin(gde_$name)
''')


def write_plugin(name: str, out: Path | None = None) -> Path:
    """Write a distribution with one agent and its contract test. Gives its folder.

    Args:
        name: lower-case letters, digits and underscores.
        out: the folder to make; `gde-NAME` here where none is named.

    Raises:
        ConfigError: another name is wanted, or the folder exists.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise ConfigError(f"NAME: wanted lower-case letters, digits and underscores, got {name!r}")
    dashed = name.replace("_", "-")
    folder = out or Path(f"gde-{dashed}")
    if folder.exists():
        raise ConfigError(f"{folder} exists: name another folder with --out")
    files = {"pyproject.toml": PYPROJECT, f"gde_{name}.py": MODULE, f"tests/test_{name}.py": TEST}
    for path, template in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(template.substitute(name=name, dashed=dashed), encoding="utf-8")
    return folder
