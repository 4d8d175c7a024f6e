"""How a simulator is run in a process of its own, and as an environment."""
