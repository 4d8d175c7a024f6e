"""Tests over a run as a whole: variations against their unvaried worlds, and trends
over difficulty.
"""
