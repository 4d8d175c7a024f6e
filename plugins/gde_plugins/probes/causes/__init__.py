"""Causal tests of what a linear probe of maps decodes."""
