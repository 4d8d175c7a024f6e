"""A moment of a BabyAI world for readers: as text in three formats, and as facts of the
record.
"""
