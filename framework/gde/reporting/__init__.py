"""What shows a result: on the terminal, as a page, and in the viewer."""
