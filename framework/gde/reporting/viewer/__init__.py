"""Runs in a browser on this machine: a list, live while they go on, side by side."""
