"""Runs to and from other programs: Inspect, tables, a site of plain files."""
