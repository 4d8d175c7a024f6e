"""Household tasks: ALFWorld's official games, and generated ones."""
