"""Measure goal-directedness: known and unknown utilities in a cliff world, target
variables in a causal model.
"""

from gde_plugins.meg import causal, known_utility, unknown_utility
from gde_plugins.meg.worlds import cliff_world, epsilon_greedy, greedy

HORIZON = 30


def main() -> None:
    """Print MEG in nats."""
    for goal_length in (1, 4):
        world = cliff_world(goal_length=goal_length)
        best = greedy(world, HORIZON)
        for epsilon in (0.0, 0.3):
            policy = epsilon_greedy(best, epsilon)
            known = known_utility(world, policy, HORIZON)
            unknown = unknown_utility(world, policy, "states", HORIZON)
            print(
                f"goal of {goal_length}, errs with {epsilon}: {known.value:6.3f} nats towards the reward"
                f" (beta {known.beta:.3g}), {unknown.value:6.3f} towards its best fit, of at most {known.ceiling:.3f}"
            )
    cheese = causal.target_variables(causal.mouse(accuracy=0.8), ["T"])
    print(f"mouse: {cheese.value:.3f} nats towards the cheese, bounds {cheese.bounds}")


if __name__ == "__main__":
    main()
