"""The frozen types that cross a plugin boundary, in the order in which a run makes
them.
"""
