"""Fixtures of the core's tests, and of plugins around whole runs."""

import os
from pathlib import Path

import pytest

from gde.request.catalogue import Catalogue, load_plugins

MODULES = ("gde.testing.plugin", "odd_parts")
HERE = str(Path(__file__).parent)


@pytest.fixture(autouse=True)
def parts_importable_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "PYTHONPATH", HERE + os.pathsep + os.environ.get("PYTHONPATH", "")
    )


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    """Everything installed, the contract kit's parts and the misbehaving ones."""
    return Catalogue(load_plugins(modules=MODULES))


@pytest.fixture(scope="session")
def asking() -> Catalogue:
    """The same, and the parts that ask language models."""
    return Catalogue(load_plugins(modules=(*MODULES, "asking_parts")))
