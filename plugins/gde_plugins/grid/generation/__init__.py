"""Sources of grids: a random generator, files, and transforms."""
