"""Executors: they run work in this process or in worker processes."""
