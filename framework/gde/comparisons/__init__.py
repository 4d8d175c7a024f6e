"""Runs, agents and models set side by side in the same worlds."""
