"""Causal tests of the directions that a linear map probe decodes."""
