"""Rewards from factorised world states (Shen et al. 2026, section 3.2)."""
