"""The agent of Arghal et al. (2026): a language model that acts on text worlds."""
