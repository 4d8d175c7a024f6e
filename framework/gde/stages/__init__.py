"""The stages of a run, one a file: each reads what the one before left in the run
folder.
"""
