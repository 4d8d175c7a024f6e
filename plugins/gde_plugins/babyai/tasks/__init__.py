"""Predict, Plan and Decompose: questions, solutions, parsers and scores."""
