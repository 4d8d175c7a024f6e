"""What planning took, in a comparison of runs."""

from pathlib import Path

from gde import Choice, Plan, evaluate
from gde.comparisons.comparing import compare
from gde.comparisons.differences import COST


def test_what_a_search_takes_is_compared_and_no_test_is_corrected_for_it(
    tmp_path: Path,
) -> None:
    """Of a search and its prior these differ by construction: they would only make
    other p values larger.
    """
    metrics = (Choice(name="accuracy"), Choice(name="planning"))
    for budget in (0, 8):
        agent = Choice(name="mcts", config={"reward": "oracle", "budget": budget})
        grid = Choice(name="grid", config={"size": 5})
        evaluate(
            Plan(environment=grid, agent=agent, episodes=12, metrics=metrics),
            tmp_path / f"{budget}",
        )
    rows = {
        each.name: each
        for each in compare(tmp_path / "0", tmp_path / "8").rows
        if not each.where
    }
    steps, accuracy = rows["planning.simulator_steps"], rows["accuracy"]
    assert steps.a == 0 < steps.b
    assert (steps.p, steps.q, steps.reason) == (None, None, COST)
    assert accuracy.p is not None and accuracy.p == accuracy.p_wilcoxon, (
        "the only member of its family"
    )
