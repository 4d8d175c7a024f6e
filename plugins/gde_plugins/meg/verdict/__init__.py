"""Is the agent directed towards the goal? An exact test against counterfactual goals."""
