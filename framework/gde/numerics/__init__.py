"""Statistics, dynamic programming on tabulated worlds, and numbers taken world by
world.
"""
