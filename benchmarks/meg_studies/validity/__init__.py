"""Which agents are called goal-directed: false positives and power of what is measured,
by simulation.
"""
