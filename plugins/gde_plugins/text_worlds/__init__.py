"""Text worlds: TextWorld, ALFWorld and ScienceWorld, each simulator in a process of its
own.
"""
