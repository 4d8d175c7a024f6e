"""How probes learn: networks, read-outs of places, ridge regression."""
