"""Probes of the residual stream: map of the grid, distance to the goal and plan."""
