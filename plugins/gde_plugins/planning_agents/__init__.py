"""Planning agents: ReAct, ReAct with predicted rewards, and tree search.

See Shen et al. (2026), appendix C.6.
"""
