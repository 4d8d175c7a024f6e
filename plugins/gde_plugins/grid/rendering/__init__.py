"""Grids as text, in other words, in tokens and as pictures."""
