"""What the terminal shows of a result and of a contest."""
