"""The numbers of LLM-BabyBench, from the recorded scores of answers."""
