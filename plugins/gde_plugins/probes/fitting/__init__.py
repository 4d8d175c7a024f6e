"""Fitting of probes: networks, read-outs of places, ridge regression."""
