"""A person at the terminal as an agent: the human baseline."""
