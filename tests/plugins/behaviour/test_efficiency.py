"""What decisions lose against the best, and how that becomes SPL and regret."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from gde import Choice, Plan
from gde.data.evidence import Evidence
from gde.data.mdp import Policy, TabularMDP
from gde.data.observation import Observation, State
from gde.data.result import Measurement
from gde.data.trajectory import Decision, EpisodeKey, Trajectory, Turn
from gde.numerics.tabular import Solution, occupancy, solve
from gde.request.catalogue import Catalogue
from gde.runs.evaluating import evaluate
from gde.testing.parts import LEFT, RIGHT, Corridor
from gde_plugins.behaviour.efficiency import Losses, efficiency

LENGTH = 6
MUTE = Decision.unusable("empty", "wanted an action, got nothing")
MOVES = st.lists(st.sampled_from([LEFT, RIGHT, RIGHT, None]), min_size=1, max_size=18)


def turn(
    index: int, state: int, action: str | None, solution: Solution, over: bool = False
) -> Turn:
    return Turn(
        index=index,
        observation=Observation(text="?"),
        decision=Decision.act(action) if action else MUTE,
        reward=float(over),
        terminated=over,
        success=float(over),
        truncated=False,
        state=State(facts={}, index=state),
        optimal=(RIGHT,),
        value=float(solution.value[state]),
    )


def walk(seed: int, moves: Sequence[str | None], length: int = LENGTH) -> Trajectory:
    """The moves in a corridor, as far as they are needed to reach its end."""
    corridor = Corridor(length)
    corridor.reset(seed)
    solution, turns = solve(corridor.mdp()), []
    for index, action in enumerate(moves):
        state = corridor.at
        over = action is not None and corridor.step(action).terminated
        turns.append(turn(index, state, action, solution, over))
        if over:
            break
    return Trajectory(
        key=EpisodeKey(condition=0, world=seed),
        seed=seed,
        world=corridor.world(),
        labels={},
        horizon=18,
        turns=tuple(turns),
        ending="terminated" if turns[-1].terminated else "horizon",
        final_state=corridor.state(),
    )


def corridor_model(trajectory: Trajectory) -> TabularMDP:
    corridor = Corridor(LENGTH)
    corridor.reset(trajectory.seed)
    return corridor.mdp()


def measured(
    trajectories: Sequence[Trajectory], model: Callable[[Trajectory], TabularMDP]
) -> dict[str, Measurement]:
    return {
        one.name: one
        for one in efficiency(Evidence(trajectories=tuple(trajectories), mdp=model))
    }


@given(st.lists(st.tuples(st.integers(0, 20), MOVES), min_size=1, max_size=6))
def test_in_steps_regret_is_what_was_walked_less_what_was_gained(
    episodes: list[tuple[int, list[str | None]]],
) -> None:
    walks = [walk(seed, moves) for seed, moves in episodes]
    extra, directness = [], []
    for one in walks:
        begin, end = -one.turns[0].value, LENGTH - 1 - one.final_state.index
        extra.append(len(one.turns) - (begin - end))
        directness.append(begin / max(begin, len(one.turns)) if one.succeeded else 0.0)
    found = measured(walks, corridor_model)
    assert found["efficiency.regret"].value == pytest.approx(np.mean(extra))
    assert found["efficiency.spl"].value == pytest.approx(np.mean(directness))
    assert found["efficiency.regret"].n == found["efficiency.spl"].n == len(walks)


def test_the_best_way_is_direct_and_regrets_nothing() -> None:
    found = measured(
        [walk(seed, [RIGHT] * LENGTH) for seed in range(9)], corridor_model
    )
    assert (found["efficiency.spl"].value, found["efficiency.regret"].value) == (1, 0)


def random_mdp(seed: int, discount: float, by_action: bool) -> TabularMDP:
    rng = np.random.default_rng(seed)
    dense = rng.dirichlet(np.full(5, 0.3), size=(3, 5))
    reward = rng.normal(size=(5, 3) if by_action else 5)
    start = rng.dirichlet(np.ones(5))
    return TabularMDP(
        transition=tuple(map(csr_array, dense)),
        start=start,
        reward=reward,
        discount=discount,
    )


@given(
    st.integers(0, 10_000),
    st.sampled_from([0.0, 0.5, 0.9]),
    st.booleans(),
    st.integers(1, 12),
)
def test_expected_losses_are_the_performance_difference(
    seed: int, discount: float, by_action: bool, horizon: int
) -> None:
    mdp = random_mdp(seed, discount, by_action)
    losses, value = Losses.of(mdp), solve(mdp).value
    policy = Policy(
        probabilities=np.random.default_rng(seed).dirichlet(np.ones(3), size=5)
    )
    done, further = (occupancy(mdp, policy, steps) for steps in (horizon, horizon + 1))
    reward = mdp.reward if by_action else mdp.reward[:, None]
    still_to_come = (further - done).sum(axis=1) @ value
    difference = mdp.start @ value - (done * reward).sum() - still_to_come
    assert (done * losses.loss[:, :3]).sum() == pytest.approx(difference, abs=1e-6)
    assert (losses.loss >= 0).all()


def trap() -> TabularMDP:
    """State 0: action "on" leads to the end 1, action "in" to a trap 2 that nothing
    leads out of.
    """
    after = np.array([[1, 1, 2], [2, 1, 2]])
    return TabularMDP(
        transition=tuple(csr_array(np.eye(3)[row]) for row in after),
        start=np.eye(3)[0],
        reward=np.array([-1.0, 0.0, -1.0]),
        terminal=np.array([False, True, False]),
        actions=("on", "in"),
    )


def test_a_step_that_puts_the_goal_out_of_reach_costs_more_than_any_number() -> None:
    losses = Losses.of(trap())
    assert losses.loss[0].tolist() == [0, np.inf, 1]
    assert np.isinf(losses.loss[2]).all()
    good = replace(
        walk(0, [RIGHT]),
        turns=(turn(0, 0, "on", solve(trap()), over=True),),
        ending="terminated",
    )
    lost = replace(
        good,
        turns=(turn(0, 0, "in", solve(trap())), turn(1, 2, "on", solve(trap()))),
        ending="horizon",
    )
    found = measured([good, lost], lambda _: trap())
    assert (
        found["efficiency.regret"].reason
        == "infinite in 1 of 2 episodes: the goal was put out of reach"
    )
    assert found["efficiency.spl"].value == 0.5


def test_a_world_that_changed_has_no_one_model_to_measure_against() -> None:
    steady, other = walk(0, [LEFT, RIGHT]), walk(0, [RIGHT])
    shifted = replace(
        steady, turns=(steady.turns[0], replace(steady.turns[1], value=-17.0))
    )
    beyond = replace(
        other, turns=(replace(other.turns[0], state=State(facts={}, index=99)),)
    )
    for measurement in measured([steady, shifted, beyond], corridor_model).values():
        assert (
            measurement.reason
            == "the world changed or the agent was moved within 2 of 3 episodes"
        )


def perturbed(trajectory: Trajectory, after: int, **facts: Any) -> Trajectory:
    """Something has happened from turn `after` on."""

    def told(each: Turn) -> Turn:
        assert each.state is not None
        happened = each.index >= after
        return replace(
            each,
            state=replace(
                each.state, facts={"perturbed": happened, **(facts if happened else {})}
            ),
        )

    return replace(trajectory, turns=tuple(map(told, trajectory.turns)))


def test_what_was_interfered_with_is_not_measured_though_every_value_is_the_models() -> (
    None
):
    steady, other = walk(0, [LEFT, RIGHT, RIGHT]), walk(0, [RIGHT, RIGHT])
    for measurement in measured([steady, perturbed(other, 1)], corridor_model).values():
        assert (
            measurement.reason
            == "the world changed or the agent was moved within 1 of 2 episodes"
        )


@pytest.mark.parametrize(
    ("after", "facts"), [(0, {}), (1, {"distractor": [1, 1]}), (9, {})]
)
def test_what_happened_before_or_after_all_decisions_or_changed_nothing_leaves_losses_alone(
    after: int, facts: dict[str, Any]
) -> None:
    steady = walk(0, [LEFT, RIGHT, RIGHT])
    assert measured([perturbed(steady, after, **facts)], corridor_model) == measured(
        [steady], corridor_model
    )


def test_of_perturbed_grids_only_those_with_a_distractor_are_measured(
    tmp_path: Path,
) -> None:
    kinds = ["none", "put_back", "close_path", "move_goal", "distractor"]
    plan = Plan(
        environment=Choice(
            name="grid", config={"min_distance": 5, "perturbation": kinds}
        ),
        agent=Choice(name="optimal"),
        episodes=4,
        metrics=(Choice(name="efficiency"),),
    )
    found = evaluate(plan, tmp_path / "run", Catalogue.default()).measurements
    assert {one.unit for one in found if one.name == "efficiency.regret"} == {"reward"}
    of_conditions = [one for one in found if one.where]
    assert {
        one.where["perturbation"] for one in of_conditions if one.value is None
    } == {*kinds[1:4]}
    assert {one.value for one in of_conditions if one.value is not None} == {0, 1}


def test_a_goal_that_is_worth_more_than_its_way_has_regret_but_no_length() -> None:
    def worth(trajectory: Trajectory) -> TabularMDP:
        model = corridor_model(trajectory)
        return replace(model, reward=np.where(model.terminal, 10.0, -1.0))

    one = walk(1, [LEFT, *[RIGHT] * LENGTH])
    valued = replace(
        one, turns=tuple(replace(each, value=each.value + 10.0) for each in one.turns)
    )
    found = measured([valued], worth)
    assert found["efficiency.regret"].value == len(one.turns) + one.turns[0].value
    assert (
        found["efficiency.spl"].reason
        == "reaching the goal has no cost in 1 of 1 episodes"
    )


def test_in_a_discounted_world_later_losses_weigh_less() -> None:
    def hurried(trajectory: Trajectory) -> TabularMDP:
        return replace(corridor_model(trajectory), discount=0.5)

    solution = solve(hurried(walk(0, [RIGHT])))
    turns = tuple(
        turn(index, 0, action, solution)
        for index, action in enumerate([LEFT, RIGHT, None])
    )
    found = measured([replace(walk(0, [LEFT]), turns=turns)], hurried)[
        "efficiency.regret"
    ]
    # From cell 0 the end is five steps away; a step that leads nowhere puts a half of
    # what follows off.
    wasted = solution.value[0] - (-1 + 0.5 * solution.value[0])
    assert found.value == pytest.approx((1 + 0.5**2) * wasted)
    assert wasted == pytest.approx(0.5**5)


def test_without_a_model_there_is_a_reason() -> None:
    for measurement in efficiency(Evidence(trajectories=(walk(0, [RIGHT]),))):
        assert (measurement.value, measurement.reason) == (
            None,
            "the environment gives no tabular model",
        )
