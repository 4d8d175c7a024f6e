"""The blocks world with four operators: problems in PDDL, certified optimal actions,
sentences to read.
"""
