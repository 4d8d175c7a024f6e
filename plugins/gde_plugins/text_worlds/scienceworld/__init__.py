"""Experiments of elementary science in ScienceWorld."""
