"""The HTML pages of a run, of a contest and of a reproduced study."""
