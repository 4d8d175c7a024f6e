"""BabyAI's grid worlds in text, an expert for them, and LLM-BabyBench's questions."""
