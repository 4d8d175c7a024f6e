"""Games that TextWorld's engine makes from a seed."""
