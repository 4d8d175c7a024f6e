"""Runs to and from other programs: Inspect, lm-eval, tables, a site of plain files."""
