"""The plan of a run that has all that a run can have."""

from gde import Choice, Plan


def whole_plan(episodes: int) -> Plan:
    """Turns, answers, activations, probes, rewards and a result."""
    return Plan(
        environment="corridor",
        agent="asking",
        metrics=["success"],
        probes=[Choice(name="moves", config={"layer": [1]})],
        rewards=[Choice(name="progress-judge", config={"model": "appraising"})],
        episodes=episodes,
    )
