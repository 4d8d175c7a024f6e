"""What shows a result to people."""
