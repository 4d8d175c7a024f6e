"""BabyAI's grid worlds in text, an expert for them, and the questions of LLM-BabyBench
about them.
"""
