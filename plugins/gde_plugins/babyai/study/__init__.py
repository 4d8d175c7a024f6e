"""The study of Choukrani et al. (2025): its plans, its printed numbers and its
figures.
"""
