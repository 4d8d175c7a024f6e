"""The cliff world, its policies, and what is printed of them."""
