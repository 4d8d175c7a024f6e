"""Language models: transformers, OpenAI-compatible servers, and the embedded nano."""
