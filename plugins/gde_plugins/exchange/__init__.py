"""Runs to and from other programs: Inspect, tables, a site of plain files; and reward
models on the trajectories of others.
"""
