"""The protocols that plugins implement, one a file."""
