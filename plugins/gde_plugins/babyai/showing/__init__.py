"""Scenes as text in three formats, what an agent with a limited view sees of them, and how they are drawn."""
