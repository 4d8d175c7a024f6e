"""A language model that is asked how far an episode has come (Shen et al. 2026, section
3.1.2).
"""
