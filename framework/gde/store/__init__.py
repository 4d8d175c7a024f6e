"""The run folder: plan, journal, activations, probes and result of one run."""
