"""The training of nano, the embedded model: see its MODEL_CARD.md.

PYTHONPATH=examples python -m nano_training --out my-nano
"""
