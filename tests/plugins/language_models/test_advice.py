"""Every setting that a message of the language models names is one of the command line."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gde.before.preparing import prepare
from gde.data.how import How
from gde.errors import ConfigError, UnknownName
from gde.request.building import Wanted, build_how, build_plan
from gde.request.settings import parse_settings
from gde_plugins import language_models

SETTING = re.compile(r"\b(?:model|agent|run)\.[\w{]*")
MODELS = ("openai:m@http://localhost:1/v1", "hf:some/model", "nano")


def texts(source: str) -> Iterator[str]:
    """The texts in a program, docstrings included, with { for what is filled in."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            parts = [getattr(each, "value", "") for each in node.values]
            yield "".join(each if isinstance(each, str) else "{" for each in parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def settings_in(source: str) -> set[str]:
    return {found for text in texts(source) for found in SETTING.findall(text)}


def is_known(setting: str) -> bool:
    """Whether the command line takes it with one of the models, whatever its value."""
    for model in MODELS:
        names = {"env": ["grid"], "agent": ["gpt-oss"], "model": [model]}
        try:
            wanted = Wanted(names=names, settings=parse_settings((f"{setting}=1",)))
            prepare(build_plan(wanted), how=build_how(wanted, How()))
        except UnknownName:
            continue
        except ConfigError:
            pass
        return True
    return False


def written() -> list[str]:
    (plugin,) = language_models.__path__
    files = Path(plugin).rglob("*.py")
    return sorted(set().union(*(settings_in(file.read_text()) for file in files)))


def test_settings_are_found_in_messages() -> None:
    source = 'f"raise model.made_up, or {x} run.{name}"'
    assert {"model.made_up", "run.{"} <= settings_in(source)
    assert {"model.timeout", "model.without", "run.concurrency"} <= {*written()}


@pytest.mark.parametrize("setting", written())
def test_a_setting_that_is_advised_exists(setting: str) -> None:
    assert is_known(setting)


@pytest.mark.parametrize("setting", ["model.max_completion_tokens", "run.made_up"])
def test_a_made_up_setting_is_none(setting: str) -> None:
    assert not is_known(setting)
