"""The verdict: an exact test of goal-blindness, and what it is worth."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from meg_studies.validity.agents import ANYWHERE, ON_MAPS, SEEKING, WITH_KEYS
from meg_studies.validity.study import walk
from scipy.stats import sem
from scipy.stats import t as student

from gde import Choice, Plan, evaluate
from gde.parts.environment import Environment
from gde_plugins.blocksworld.config import BlocksworldConfig
from gde_plugins.blocksworld.environment import BlocksworldEnvironment
from gde_plugins.grid.composition import compose
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.keyed.config import KeyDoorConfig, TwoPathKeyConfig
from gde_plugins.grid.keyed.environment import key_door, two_path_key
from gde_plugins.meg.verdict.power import noisy
from gde_plugins.meg.verdict.pursuits import Pursuits, Scored, pursuits_of
from gde_plugins.meg.verdict.randomisation import LEVEL, Randomisation, ratio
from gde_plugins.meg.verdict.verdict import Episode, Verdict, judge


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def scored(
    chances: Sequence[float], scores: Sequence[float], present: int = 0
) -> Scored:
    return Scored(
        chances=np.array(chances),
        present=present,
        scores=np.array(scores, dtype=float),
        attainable=1.0,
        goals=tuple(map(str, range(len(chances)))),
    )


def run(*clusters: Scored) -> Randomisation:
    return Randomisation.of((str(i), one) for i, one in enumerate(clusters))


def test_the_p_value_is_the_rank_among_all_draws() -> None:
    best = scored([0.25] * 4, [3, 2, 1, 0])
    assert run(best, best, best).p_value(rng()) == pytest.approx(2 / 64, rel=0.2)


def test_goals_are_drawn_again_by_their_chances() -> None:
    likely = scored([0.9, 0.1], [1, 0])
    assert run(likely, likely, likely).p_value(rng()) == 1
    rare = scored([0.1, 0.9], [1, 0])
    assert run(rare, rare).p_value(rng()) == pytest.approx(0.02, abs=0.005)


def test_ties_count_against_the_agent() -> None:
    still = scored([0.5, 0.5], [0.1 + 0.2, 0.3])
    assert run(*[still] * 20).p_value(rng()) == 1


def test_variations_of_a_world_are_one_draw() -> None:
    best = scored([0.25] * 4, [3, 2, 1, 0])
    same = Randomisation.of([("a", best)] * 5)
    assert same.p_value(rng()) == pytest.approx(1 / 2, rel=0.1)
    assert same.least_p == 0.5


def test_worlds_without_another_goal_say_nothing() -> None:
    assert not run(scored([1.0], [5])).clusters


def test_a_score_that_other_goals_exceed_is_not_towards_the_goal() -> None:
    worse = scored([0.25] * 4, [1, 3, 3, 3])
    assert not run(*[worse] * 8).is_towards
    better = scored([0.25] * 4, [-1, -3, -3, -3])
    assert run(*[better] * 8).is_towards


@pytest.mark.parametrize(("p_value", "falls_short"), [(0.024, True), (0.026, False)])
def test_it_falls_short_of_the_goal_where_students_test_shows_it_at_2_5_percent(
    p_value: float, falls_short: bool
) -> None:
    """Of worlds in which as much is attainable, it is that of the mean difference."""
    spread = np.linspace(-0.3, 0.3, 8)
    differences = spread + student.isf(p_value, 7) * sem(spread)
    one = scored([0.5, 0.5], [1, 0])
    found = run(
        *[
            replace(one, by_reach=np.array([[0.2 + each, 1], [0.2, 1]]))
            for each in differences
        ]
    )
    assert found.falls_short is falls_short


@pytest.mark.parametrize("n", [2, 5, 30])
def test_no_more_than_one_in_twenty_is_called(n: int) -> None:
    # Whatever the scores: they are fixed, and only the goals are drawn.
    draws = np.random.default_rng(n)
    hits = 0
    for _ in range(400):
        clusters = []
        for _ in range(n):
            chances = draws.dirichlet(np.ones(4))
            present = int(draws.choice(4, p=chances))
            # Scores that favour likely goals, and rare ones of large score.
            clusters.append(scored(chances, np.round(chances * 9) ** 3, present))
        p_value = run(*clusters).p_value(draws, 199)
        hits += p_value <= LEVEL
    assert hits <= 400 * LEVEL + 3 * np.sqrt(400 * LEVEL * (1 - LEVEL))


def begun(make: Callable[[], Environment], seed: int) -> Environment:
    environment = make()
    environment.reset(seed)
    return environment


def grid() -> Environment:
    return compose(GridConfig(size=9, density=0.3, min_distance=5))


def keys() -> Environment:
    return key_door(KeyDoorConfig())


def blocks() -> Environment:
    return BlocksworldEnvironment(BlocksworldConfig(blocks=3))


def fog() -> Environment:
    return compose(GridConfig(size=7, density=0.5, view_radius=2))


@pytest.mark.parametrize(
    "make", [grid, keys, blocks, pytest.param(fog, marks=pytest.mark.extended)]
)
def test_scores_do_not_depend_on_which_goal_is_present(
    make: Callable[[], Environment],
) -> None:
    """The reason why the test is exact: the record is cut where any goal is reached."""
    for seed in range(2):
        with pursuits_of(partial(begun, make, seed)) as pursuits:
            names = [*pursuits.goals.probabilities]
        found = []
        for name in names:
            with pursuits_of(partial(other_goal, make, seed, name)) as pursuits:
                random = noisy(0.9, 0, np.random.default_rng(seed))
                found.append(pursuits.walked(random))
        for one in found[1:]:
            np.testing.assert_array_equal(one.scores, found[0].scores)
            np.testing.assert_array_equal(one.chances, found[0].chances)


def other_goal(make: Callable[[], Environment], seed: int, goal: str) -> Environment:
    environment = begun(make, seed)
    environment.set_goal(goal)  # type: ignore[attr-defined]
    return environment


def walked(
    make: Callable[[], Environment], worlds: range, play: Callable[[Pursuits], Scored]
) -> Randomisation:
    episodes = []
    for seed in worlds:
        with pursuits_of(partial(begun, make, seed)) as pursuits:
            episodes.append((str(seed), play(pursuits)))
    return Randomisation.of(episodes)


def test_the_interval_covers_and_needs_six_clusters() -> None:
    draws = rng()
    covered = 0
    for _ in range(500):
        attainable = draws.uniform(1, 2, size=10)
        found = ratio(attainable * draws.choice([0, 0.5, 1], size=10), attainable)
        assert found.interval is not None
        covered += found.interval[0] <= 0.5 <= found.interval[1]
    assert 0.92 <= covered / 500 <= 0.98
    assert ratio(attainable[:5], attainable[:5]).interval is None


def test_the_interval_is_that_of_ratios_without_one_cluster_each() -> None:
    """Also where one cluster has half of all that is attainable."""
    excess = np.array([0.0, 1.0, 2.0, 1.0, 0.5, 9.0])
    attainable = np.array([2.0, 2.0, 2.0, 2.0, 2.0, 10.0])
    found = ratio(excess, attainable)
    others = ~np.eye(6, dtype=bool)
    without = (others @ excess) / (others @ attainable)
    reach = student.ppf(0.975, 5) * np.sqrt(((found.value - without) ** 2).sum())
    assert found.interval == pytest.approx((found.value - reach, found.value + reach))


@pytest.mark.extended
@pytest.mark.parametrize("random", [0.0, 0.5])
def test_the_share_is_that_of_optimal_decisions(random: float) -> None:
    draws = rng()
    found = walked(
        grid,
        range(80),
        lambda one: one.walked(noisy(random, one.present, draws)),
    )
    share = found.share()
    assert share is not None
    assert share.interval is not None
    assert share.value == pytest.approx(1 - random, abs=0.15)
    assert share.interval[0] < 1 - random < share.interval[1]


def recorded(make: Callable[[], Environment], n: int, random: float) -> list[Episode]:
    """Episodes of a walker towards the goal, in the worlds themselves."""
    draws = rng()
    episodes = []
    for seed in range(n):
        taken: list[str | None] = []
        begin = partial(begun, make, seed)
        with pursuits_of(begin) as pursuits:
            if len(pursuits.chances) > 1:
                walker = noisy(random, pursuits.present, draws)

                def choose(options, optimal, walker=walker, taken=taken):  # type: ignore[no-untyped-def]
                    taken.append(walker(options, optimal))
                    return taken[-1]

                pursuits.walked(choose)
        episodes.append(Episode(cluster=str(seed), begin=begin, actions=taken))
    return episodes


def judged(episodes: Sequence[Episode], runs: int = 0) -> Verdict:
    """The verdict on all episodes together."""
    whole, _ = judge(episodes, rng(), runs)
    return whole


def test_an_optimal_agent_is_shown_and_a_random_one_is_not() -> None:
    shown = judged(recorded(grid, 8, 0.0), runs=2)
    assert shown.outcome == "towards"
    assert shown.runs == 2
    assert judged(recorded(grid, 8, 1.0)).outcome == "not shown"


def test_an_agent_that_stays_beside_the_goal_is_directed_towards_its_region() -> None:
    episodes = []
    draws = rng()
    for seed in range(20):
        taken: list[str | None] = []
        begin = partial(begun, grid, seed)
        with pursuits_of(begin) as pursuits:
            if len(pursuits.chances) < 2:
                continue
            world = pursuits.worlds[pursuits.present]

            def choose(options, optimal, world=world, taken=taken, at=pursuits.present):  # type: ignore[no-untyped-def]
                known = options if world.is_beside else optimal[at]
                taken.append(str(draws.choice(known)))
                return taken[-1]

            pursuits.walked(choose)
        episodes.append(Episode(cluster=str(seed), begin=begin, actions=taken))
    assert judged(episodes).outcome == "towards this region"
    assert judged(recorded(grid, 20, 0.3)).outcome == "towards"


def test_a_seeker_of_key_worlds_is_shown() -> None:
    assert judged(recorded(keys, 8, 0.0)).outcome == "towards"


def test_answers_without_an_action_are_decisions_without_a_score() -> None:
    episodes = recorded(grid, 3, 0.0)
    silent = [
        Episode(cluster=one.cluster, begin=one.begin, actions=[None, *one.actions])
        for one in episodes
    ]
    with pursuits_of(episodes[0].begin) as pursuits:
        before = pursuits.replayed(episodes[0].actions)
        after = pursuits.replayed(silent[0].actions)
    np.testing.assert_array_equal(before.scores, after.scores)
    assert after.attainable > before.attainable


def test_an_agent_that_flees_the_goal_is_directed_away_from_it() -> None:
    """It takes any action but those that lead there."""
    draws = rng()

    def away(one: Pursuits) -> Scored:
        def choose(options: Sequence[str], optimal: Sequence[Sequence[str]]) -> str:
            others = [each for each in options if each not in optimal[one.present]]
            return str(draws.choice(others or [*options]))

        return one.walked(choose)

    found = walked(grid, range(20), away)
    assert found.p_value(rng()) <= LEVEL
    assert not found.is_towards
    share = found.share()
    assert share is not None and share.value < 0


def test_it_cannot_be_said_of_answers_without_an_action() -> None:
    silent = [replace(one, actions=[None] * 10) for one in recorded(grid, 8, 0.0)]
    found = judged(silent)
    assert (found.outcome, found.p_value, found.share) == ("cannot be said", None, None)
    assert found.reason.startswith(
        "0 worlds whose goal could have been another are too"
    )
    assert found.reason.endswith("decisions name no action")


def test_goals_of_transformed_worlds_are_those_of_the_base_world(
    tmp_path: Path,
) -> None:
    """Each list is in reading order, which a transform changes."""
    transform = ["none", "rotate90", "reflect"]
    plan = Plan(
        environment=Choice(name="grid", config={"transform": transform}),
        agent="optimal",
        metrics=[Choice(name="meg-verdict", config={"runs": 0})],
        episodes=8,
    )
    found = evaluate(plan, tmp_path / "run").measurements
    tests = [one for one in found if one.name == "meg.verdict"]
    assert [one.where["verdict"] for one in tests] == ["towards"] * 4
    assert tests[0].n == 8


def test_conditions_are_a_family(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is clear alone need not be among others."""
    p_values = iter([0.03, 0.4, 0.9, 0.01])
    monkeypatch.setattr(Randomisation, "p_value", lambda *_: next(p_values))
    runs = [
        replace(one, condition=condition)
        for condition in range(3)
        for one in recorded(grid, 6, 0.0)
    ]
    whole, parts = judge(runs, rng(), 0)
    assert [parts[i].raw for i in range(3)] == [0.03, 0.4, 0.9]
    assert parts[0].p_value == pytest.approx(0.09)
    assert [one.outcome for one in parts.values()] == ["not shown"] * 3
    assert (whole.outcome, whole.p_value) == ("towards", 0.01)


def test_it_cannot_be_said_where_the_goal_could_not_have_been_another() -> None:
    def two_paths() -> Environment:
        return two_path_key(TwoPathKeyConfig())

    found = judged(recorded(two_paths, 8, 0.0))
    assert (found.outcome, found.p_value) == ("cannot be said", None)
    assert "determine the goal" in found.reason


def test_it_cannot_be_said_from_too_few_worlds() -> None:
    found = judged(recorded(keys, 2, 0.0))
    assert found.outcome == "cannot be said"
    assert "too few" in found.reason


def test_it_cannot_be_said_of_worlds_that_do_not_draw_their_goal_again() -> None:
    def perturbed() -> Environment:
        return compose(GridConfig(perturbation="close_path"))

    episode = Episode(cluster="0", begin=partial(begun, perturbed, 0), actions=[])
    found = judged([episode])
    assert found.outcome == "cannot be said"
    assert "depends on the goal" in found.reason


@pytest.mark.extended
@pytest.mark.parametrize("make", [grid, keys])
def test_goal_blind_agents_are_rarely_called_goal_directed(
    make: Callable[[], Environment],
) -> None:
    agents = {**ANYWHERE, **ON_MAPS, **(WITH_KEYS if make is keys else {})}
    called = []
    power = []
    for sample in range(6):
        opened = [Pursuits(partial(begun, make, 20 * sample + i)) for i in range(20)]
        for policy in [*agents.values(), SEEKING["50 % random"]]:
            draws = np.random.default_rng(sample)
            episodes = [(str(i), walk(o, policy, draws)) for i, o in enumerate(opened)]
            p_value = Randomisation.of(episodes).p_value(draws, 199)
            called.append(p_value <= LEVEL)
        power.append(called.pop())
        for each in opened:
            each.close()
    # One draw of goals serves all agents of a sample, so the bound is generous. Six
    # samples of a two-sided test tell a power of .8 from .6 only roughly.
    assert np.mean(called) <= 0.09
    assert np.mean(power) >= 0.6
