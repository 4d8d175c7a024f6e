"""The study of Choukrani et al. (2025): plans, printed numbers and figures."""
