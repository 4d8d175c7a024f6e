"""What is best to do in a BabyAI world: bounds, exact search, a proof of impossibility,
and an expert with subgoals.
"""
