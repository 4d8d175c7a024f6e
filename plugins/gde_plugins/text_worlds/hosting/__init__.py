"""Simulators in their own processes, and environments from them."""
