"""Baseline reward models, and the EPIC distance of rewards from certified progress
(Shen et al. 2026).
"""
