"""Household tasks: ALFWorld's own games, and games that are made for it."""
