"""Text worlds: TextWorld, ALFWorld and ScienceWorld, each in its own process."""
