"""Executors that work elsewhere: in other processes, or on a Ray cluster."""
