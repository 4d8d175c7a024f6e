"""Elementary science experiments in ScienceWorld."""
