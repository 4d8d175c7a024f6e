"""The agent of Arghal et al. (2026): a language model that is shown the world as text
and answers with one action.
"""
