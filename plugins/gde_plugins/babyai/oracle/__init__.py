"""Optimal actions in BabyAI worlds: bounds, search, a proof, and an expert."""
