"""Rows of the representational study: printed numbers beside measured ones."""
