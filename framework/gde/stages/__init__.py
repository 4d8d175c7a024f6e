"""The stages of a run, one a file.

Each reads what the one before left in the run folder.
"""
