"""Key worlds: instrumental and implicit goals (Arghal et al. 2026, section 4.3).

`rooms` and `two_paths` draw scenes, `dynamics` holds the rules and the model on the
augmented state, `environment` the text for the agent. Nothing is imported here, so that
listing plugins stays quick.
"""
