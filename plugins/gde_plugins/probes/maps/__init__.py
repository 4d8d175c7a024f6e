"""Cognitive maps: the probe that decodes them, and what is measured on decoded maps."""
