"""Tree search by UCT (Kocsis and Szepesvári 2006) with the prior of Silver et al.
(2017).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import sqrt
from typing import Literal

import numpy as np

from gde.parts.simulator import Situation


@dataclass(eq=False)
class Node:
    """A situation, tried or not, and the statistics of its successors."""

    action: str = ""
    """The action that leads here."""
    prior: float = 1.0
    """The prior weight of the action, 0 to 1."""
    parent: "Node | None" = None
    situation: Situation | None = None
    """The situation; None until it is tried."""
    value: float = 0.0
    """The reward of the situation."""
    children: "list[Node]" = field(default_factory=list)
    visits: int = 0
    total: float = 0.0
    """Sum of the returns after taking the action, gain of the action included."""

    @property
    def mean(self) -> float:
        """The mean return of the visits; 0, no gain, before the first."""
        return self.total / self.visits if self.visits else 0.0

    def grow(self, prior: Mapping[str, float]) -> None:
        """Add a child for each action that may be taken here."""
        self.children = [
            Node(action=action, prior=p, parent=self) for action, p in prior.items()
        ]

    def back_up(self, discount: float) -> None:
        """Count a visit here and on the whole path to the root.

        Each step earns the growth of the reward.
        """
        node = self
        earned = 0.0
        while node.parent is not None:
            earned = node.value - node.parent.value + discount * earned
            node.visits += 1
            node.total += earned
            node = node.parent
        node.visits += 1

    def path(self) -> "list[tuple[Situation, str]]":
        """Return the steps from the root to here."""
        steps = []
        node = self
        while node.parent is not None and node.parent.situation is not None:
            steps.append((node.parent.situation, node.action))
            node = node.parent
        return steps[::-1]


@dataclass(frozen=True)
class Search:
    """Finds the next situation to try, and finally the action to take."""

    exploration: float
    """Weight of the prior and of rarely visited actions."""
    guide: Literal["values", "prior"]
    """Whether values guide the search, or the prior only."""
    rng: np.random.Generator

    def descend(self, root: Node) -> Node:
        """Go from the root to a situation that is untried or has no successors."""
        # Means are scaled by the least and the most in the tree, so that one weight of
        # exploration fits every reward.
        means = [0.0, *(node.mean for node in _visited(root))]
        node = root
        while node.children and node.situation is not None and not node.situation.over:
            node = self._chosen(node, min(means), max(means))
        return node

    def decide(self, root: Node) -> str:
        """Return the most visited action, or that of the best mean if the prior guides.

        Equals are drawn. Before any visit it is the likeliest by the prior.

        Before any visit it is the likeliest by the prior.
        """
        children = self._shuffled(root)
        tried = [child for child in children if child.visits]
        if not tried:
            return max(children, key=lambda child: child.prior).action
        if self.guide == "prior":
            return max(tried, key=lambda child: child.mean).action
        return max(tried, key=lambda child: (child.visits, child.mean)).action

    def _chosen(self, node: Node, least: float, most: float) -> Node:
        if self.guide == "prior":
            p = np.array([child.prior for child in node.children])
            return node.children[int(self.rng.choice(len(p), p=p / p.sum()))]
        explored = self.exploration * sqrt(max(1, node.visits))
        mean = node.mean if node.parent else 0.0

        def worth(child: Node) -> float:
            known = 0.5
            if most > least:
                known = ((child.mean if child.visits else mean) - least) / (
                    most - least
                )
            return known + explored * child.prior / (1 + child.visits)

        return max(self._shuffled(node), key=worth)

    def _shuffled(self, node: Node) -> list[Node]:
        return [node.children[i] for i in self.rng.permutation(len(node.children))]


def _visited(root: Node) -> Iterator[Node]:
    for child in root.children:
        if child.visits:
            yield child
            yield from _visited(child)
