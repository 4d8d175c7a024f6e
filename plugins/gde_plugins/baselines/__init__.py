"""Reference agents: by chance, optimal, and optimal with slips."""
