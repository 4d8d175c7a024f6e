"""The RewardPrediction benchmark (Shen et al. 2026, section 2): trajectories with a
true reward for every step.
"""
