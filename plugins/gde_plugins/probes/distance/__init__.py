"""The distance to the goal, decoded from activations or derived from decoded maps."""
