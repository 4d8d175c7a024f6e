"""The metrics of a run: goal-directedness of its agent, from the outside and from the
inside.
"""
