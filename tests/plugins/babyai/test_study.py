"""The study holds any agent against the printed numbers, and runs with the bot have the order of its competences."""

from pathlib import Path

import pytest

from gde import Catalogue, evaluate  # noqa: F401
