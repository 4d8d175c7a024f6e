"""Language models: any causal model of transformers, any OpenAI-compatible server, and
the embedded nano.
"""
