"""The blocks world with four operators: PDDL, optimal actions and sentences."""
