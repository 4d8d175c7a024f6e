"""Future actions, decoded from activations."""
