"""Where grids come from: a random generator or a file, and the transforms between them."""
