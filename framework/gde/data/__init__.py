"""The frozen types that cross a plugin boundary, in the order of a run."""
