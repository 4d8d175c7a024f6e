"""Grids in which something is hidden or happens half-way."""
