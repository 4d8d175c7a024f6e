"""The course of beliefs: what can be read from a model's activations, event by event,
while it reasons.
"""
