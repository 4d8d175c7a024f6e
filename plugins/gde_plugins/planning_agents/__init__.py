"""Agents that think before they act: ReAct, ReAct with predicted rewards, and Monte
Carlo tree search (Shen et al. 2026, appendix C.6).
"""
