"""Results on the terminal, as pages, and in the viewer."""
