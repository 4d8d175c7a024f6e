"""Published tables on goal-directed language-model agents in grid worlds (Arghal et al.
2026), to be re-run.
"""
