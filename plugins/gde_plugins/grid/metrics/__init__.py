"""What only these worlds can be asked: keys, fog and perturbations."""
