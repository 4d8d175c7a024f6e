"""Reward models that read nothing of what is shown, as marks to hold others against, and the distance of rewards from
certified progress (Shen et al. 2026)."""
