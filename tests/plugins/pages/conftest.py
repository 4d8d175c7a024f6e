"""The run that all tests of reports show, and the browser of the core's tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "framework"))

from walked_run import evidence, result  # noqa: F401
