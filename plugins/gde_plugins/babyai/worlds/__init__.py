"""Worlds of minigrid's BabyAI levels, simulated in plain Python."""
