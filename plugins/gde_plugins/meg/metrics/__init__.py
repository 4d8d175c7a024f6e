"""The metrics of a run: goal-directedness of its agent."""
