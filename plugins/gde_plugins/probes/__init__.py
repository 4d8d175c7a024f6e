"""Probes of the residual stream: the cognitive map, and the distance to the goal."""
