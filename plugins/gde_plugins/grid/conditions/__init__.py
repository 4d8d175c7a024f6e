"""Grids in fog and grids with a perturbation."""
