"""A small transformer that reads the worlds' text, and its training."""
