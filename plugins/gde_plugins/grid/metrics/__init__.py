"""Metrics of keys, fog and perturbations."""
