"""Why an agent erred: every turn that was not optimal, attributed to a cause."""
