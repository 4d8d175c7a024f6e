"""gde new-plugin: the smallest plugin that works, as a folder to start from."""

import re
from pathlib import Path
from string import Template
from typing import Annotated

import typer

from gde.cli.output import say

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


def command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Lower-case name, e.g. my_agent.")],
    out: Annotated[Path | None, typer.Option(help="Folder to make; default: gde-NAME here.")] = None,
) -> None:
    """Write the smallest plugin that works: a distribution with one agent and its contract test."""
    from gde.errors import ConfigError

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
    say(f"wrote {folder}: pip install -e {folder}, then `gde plugins` lists it and `gde show agent {dashed}` shows it")
