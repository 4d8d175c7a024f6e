"""Trained reward models: a language model with a head for one number (Shen et al. 2026,
section 3.1.1).
"""
