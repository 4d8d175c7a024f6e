"""The executor that runs work in this process; others are plugins."""
