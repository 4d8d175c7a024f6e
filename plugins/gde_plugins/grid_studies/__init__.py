"""Published tables of paper 000 (goal-directedness of language-model agents in grid worlds), to be re-run."""
