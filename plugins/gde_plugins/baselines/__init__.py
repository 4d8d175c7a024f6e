"""Reference agents: by chance, optimal, optimal by what is known, and optimal with
slips.
"""
