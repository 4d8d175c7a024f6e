"""Cognitive maps: the probe that decodes them, and metrics on decoded maps."""
