"""Runs for other people: a site of plain files, and a dataset that gde reads back."""
