"""Agents that act in BabyAI worlds or answer questions about them."""
