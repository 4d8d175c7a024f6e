"""Predict, Plan and Decompose: one question about a world, its solution, and how an
answer is read and scored.
"""
