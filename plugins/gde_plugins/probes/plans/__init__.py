"""The actions to come, decoded from activations."""
