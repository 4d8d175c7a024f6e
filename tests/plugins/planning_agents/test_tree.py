"""The tree by hand: what is backed up, where it grows, and what is decided in the
end.
"""

import numpy as np
import pytest

from gde.data.observation import Observation
from gde.parts.simulator import Situation
from gde_plugins.planning_agents.priors import ranked, uniform
from gde_plugins.planning_agents.tree import Node, Search

HERE = Situation(observation=Observation(text=""))
OVER = Situation(observation=Observation(text=""), over=True)


def search(**change: object) -> Search:
    return Search(
        **{
            "exploration": 1.0,
            "guide": "values",
            "rng": np.random.default_rng(0),
            **change,
        }
    )  # type: ignore[arg-type]


def grown(prior: dict[str, float] | None = None, value: float = 0.0) -> Node:
    root = Node(situation=HERE, value=value)
    root.grow(prior or uniform(("a", "b")))
    return root


def visit(node: Node, value: float, discount: float = 0.5) -> None:
    node.situation, node.value = HERE, value
    node.back_up(discount)


def test_a_step_earns_what_the_reward_grows_by_and_later_ones_less() -> None:
    root = grown(value=0.25)
    a, _ = root.children
    visit(a, 0.5)
    assert (a.mean, a.visits, root.visits) == (0.25, 1, 1)
    a.grow(uniform(("c",)))
    visit(a.children[0], 1.0)
    assert a.children[0].mean == 0.5
    assert a.mean == pytest.approx((0.25 + (0.25 + 0.5 * 0.5)) / 2)
    assert [action for _, action in a.children[0].path()] == ["a", "c"]


def test_everything_is_tried_once_before_what_gains_nothing_is_tried_again() -> None:
    root, rule = grown(uniform("abcd")), search()
    for _ in range(4):
        visit(rule.descend(root), 0.0)
    assert [child.visits for child in root.children] == [1] * 4


def test_what_gains_most_is_visited_most_and_taken() -> None:
    root, rule = grown(), search()
    for _ in range(20):
        node = rule.descend(root)
        visit(node, 1.0 if node.action == "b" else 0.2)
    assert rule.decide(root) == "b"
    assert root.children[1].visits > 2 * root.children[0].visits > 0


def test_the_scale_of_rewards_plays_no_part() -> None:
    def visits(scale: float) -> list[int]:
        root, rule = grown(), search()
        for _ in range(20):
            node = rule.descend(root)
            visit(node, scale * (1.0 if node.action == "b" else 0.2))
        return [child.visits for child in root.children]

    assert visits(2.0**-20) == visits(1.0) == visits(2.0**20)


def test_without_a_visit_the_prior_decides_and_equals_by_chance() -> None:
    assert search().decide(grown({"a": 0.2, "b": 0.8})) == "b"
    drawn = {
        search(rng=np.random.default_rng(seed)).decide(grown()) for seed in range(20)
    }
    assert drawn == {"a", "b"}


def test_the_prior_alone_can_guide_and_then_means_decide() -> None:
    root, rule = (
        grown({"a": 0.9, "b": 0.1}),
        search(guide="prior", rng=np.random.default_rng(3)),
    )
    for _ in range(200):
        node = rule.descend(root)
        visit(node, 1.0 if node.action == "b" else 0.2)
    assert 5 < root.children[1].visits < 40
    assert rule.decide(root) == "b"


def test_nothing_is_tried_behind_an_end() -> None:
    root, rule = grown(uniform(("a",))), search()
    (end,) = root.children
    end.situation = OVER
    end.grow(uniform(("more",)))
    assert rule.descend(root) is end


def test_ranks_become_weights_and_nothing_is_ruled_out() -> None:
    prior = ranked(("b", "c"), ("a", "b", "c", "d"))
    assert sum(prior.values()) == pytest.approx(1)
    assert prior["b"] - prior["a"] == pytest.approx(2 * (prior["c"] - prior["a"]))
    assert prior["a"] == prior["d"] == pytest.approx(0.025)
    assert sum(ranked(("x", "y"), None).values()) == pytest.approx(1)
