"""The run that all tests of reports show."""

from walked_run import evidence, result  # noqa: F401
