"""The fixtures and parts of the core's tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "framework"))

from core_fixtures import asking, catalogue, parts_importable_elsewhere  # noqa: F401
