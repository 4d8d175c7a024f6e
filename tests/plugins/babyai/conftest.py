"""Worlds that several tests look at."""

import pytest

pytest.importorskip("minigrid")
