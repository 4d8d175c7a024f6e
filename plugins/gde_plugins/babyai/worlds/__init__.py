"""Worlds of minigrid's BabyAI levels, taken over once and played on in plain Python."""
