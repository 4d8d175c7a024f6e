"""Runs in a local browser: a list, live progress, and comparisons."""
