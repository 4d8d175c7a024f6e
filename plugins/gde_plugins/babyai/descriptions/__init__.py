"""Descriptions of a moment of a BabyAI world: texts in three formats, and facts."""
