"""Runs in a browser on this machine: a list, live progress, and two runs side by
side.
"""
