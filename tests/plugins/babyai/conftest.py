"""Lets the modules of this folder import what they share."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("minigrid")
sys.path.insert(0, str(Path(__file__).parent))
