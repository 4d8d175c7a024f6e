"""Language-model agents: their action probabilities instead of samples, and what they
do when the goal is swapped.
"""
