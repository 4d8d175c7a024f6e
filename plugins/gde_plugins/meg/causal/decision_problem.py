"""The distribution of target variables as a function of the decisions of a diagram."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import log, prod

import numpy as np
from scipy.special import entr

from gde.data.arrays import Doubles
from gde_plugins.meg.causal.diagram import Diagram
from gde_plugins.meg.causal.graph import ancestors, d_separated, descendants, ordered
from gde_plugins.meg.causal.inference import response

Policies = Mapping[str, Doubles]
"""By decision: probabilities, shape (*cardinalities of the parents, options)."""


class DecisionProblem:
    """The decisions of a diagram, reduced to P(targets, decisions and their parents ||
    decisions).

    A "whole table" has one axis for each variable in `axes`.

    Args:
        diagram: with at least one decision.
        scopes: sets of variables; the utility is a sum of functions, one of each.

    Raises:
        ValueError: there is no decision, or exact inference is too large.
    """

    def __init__(self, diagram: Diagram, scopes: Sequence[Sequence[str]]) -> None:
        self.diagram = diagram
        self.scopes = scopes
        self.decisions = diagram.decisions
        if not self.decisions:
            raise ValueError(
                "wanted a diagram with decisions: posit them, e.g. diagram.posit(['D'])"
            )

        targets: list[str] = []
        for scope in scopes:
            targets += scope
        self.targets = tuple(dict.fromkeys(targets))

        self.families: dict[str, tuple[str, ...]] = {}
        decided: list[str] = []
        for name in self.decisions:
            family = (*diagram.parents[name], name)
            self.families[name] = family
            decided += family

        self.axes = tuple(dict.fromkeys([*decided, *self.targets]))
        """Variables of the axes of every whole table."""
        self.response = response(diagram, self.axes)

    @cached_property
    def policy(self) -> Policies:
        """The measured policies: those of the diagram."""
        return {name: self.diagram.nodes[name].table for name in self.decisions}

    @cached_property
    def uniform(self) -> Policies:
        """Uniform choice in every decision."""
        uniform = {}
        for name, table in self.policy.items():
            n_options = table.shape[-1]
            uniform[name] = np.full(table.shape, 1 / n_options)
        return uniform

    @cached_property
    def ceiling(self) -> float:
        """Sum over the decisions of ln of the number of their options."""
        ceiling = 0.0
        for table in self.policy.values():
            n_options = table.shape[-1]
            ceiling += log(n_options)
        return ceiling

    @cached_property
    def n_outcomes(self) -> int:
        """The number of joint values of the targets."""
        return prod(self.diagram.cardinalities[name] for name in self.targets)

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The decisions in an order in which each is solved given those before it.

        Raises:
            ValueError: there is none, since a decision does not recall what it needs
                (Koller and Milch 2003, with the entropy of every decision as a utility
                of its own).
        """
        relevant: dict[str, list[str]] = {name: [] for name in self.decisions}
        for name in self.decisions:
            for other in self.decisions:
                if self._relevant(other, name):
                    relevant[name].append(other)
        try:
            return ordered(relevant)
        except ValueError as error:
            listed = ", ".join(self.decisions)
            raise ValueError(
                f"decisions {listed}: one does not recall what it needs, so MEG has no certain bounds: "
                "let it see what earlier ones saw and chose, e.g. with_recall(diagram)"
            ) from error

    def _relevant(self, other: str, name: str) -> bool:
        """Return whether the policy of `other` matters for the best choice in the
        decision `name`.
        """
        if other == name:
            return False

        # Only what the decision can influence is a reason to choose one option over
        # another.
        graph = self.diagram.parents
        influenced = descendants(graph, name)
        scopes = [*self.scopes]
        for each in self.decisions:
            # The entropy of another decision is a utility of its family.
            if each != name:
                scopes.append(self.families[each])
        judged: set[str] = set()
        for scope in scopes:
            if influenced.intersection(scope):
                judged.update(scope)

        # The policy of the other decision is a parent of it: does knowing it tell more
        # of what is judged?
        mechanism = f"policy of {other}"
        with_mechanism = dict(graph)
        with_mechanism[mechanism] = ()
        with_mechanism[other] = (*graph[other], mechanism)
        return not d_separated(with_mechanism, [mechanism], judged, self.families[name])

    def consequential(self) -> tuple[str, ...]:
        """Return the decisions that the targets depend on."""
        reached = ancestors(self.diagram.parents, self.targets)
        return tuple(name for name in self.decisions if name in reached)

    def spread(self, table: Doubles, names: Sequence[str]) -> Doubles:
        """Shape a table over some of the axes so that it broadcasts against a whole
        one.
        """
        places = [self.axes.index(name) for name in names]
        sizes = [1] * len(self.axes)
        for name, place in zip(names, places, strict=True):
            sizes[place] = self.diagram.cardinalities[name]
        return table.transpose(np.argsort(places)).reshape(sizes)

    def marginal(self, table: Doubles, names: Sequence[str]) -> Doubles:
        """Sum a whole table over all axes but these, and order these as given."""
        places = [self.axes.index(name) for name in names]
        others = set(range(table.ndim)) - set(places)
        summed: Doubles = table.sum(axis=tuple(sorted(others)))

        # The axes that are left are in the table's order; their ranks put them into
        # that of the names.
        ranks = np.argsort(np.argsort(places))
        return summed.transpose(ranks)

    def distribution(self, policies: Policies, without: Sequence[str] = ()) -> Doubles:
        """Return the whole table of joint probabilities, with the policies in `without`
        left out of the product.
        """
        table = self.response
        for name, policy in policies.items():
            if name not in without:
                table = table * self.spread(policy, self.families[name])
        return table

    def outcomes(self, policies: Policies) -> Doubles:
        """Return (n_outcomes,) probabilities of the targets' joint values, the last
        target varying fastest.
        """
        table = self.distribution(policies)
        return self.marginal(table, self.targets).ravel()

    def shaped(self, utility: Doubles) -> Doubles:
        """Reshape (n_outcomes,) numbers to an axis for every target."""
        sizes = [self.diagram.cardinalities[name] for name in self.targets]
        return utility.reshape(sizes)

    def on_targets(self, utility: Doubles) -> Doubles:
        """Shape (n_outcomes,) numbers so that they broadcast against a whole table."""
        return self.spread(self.shaped(utility), self.targets)

    def of_targets(self, table: Doubles, names: Sequence[str]) -> Doubles:
        """Return the (n_outcomes,) values of a function of some targets, given as a
        table over these.
        """
        zeros = np.zeros(self.n_outcomes)
        # Adding zeros gives the table the axes of the other targets.
        whole = self.on_targets(zeros) + self.spread(table, names)
        return self.marginal(whole, self.targets).ravel()

    @cached_property
    def most(self) -> float:
        """An upper bound of MEG for any utility of the targets.

        For the decisions that they depend on it is ln of the options less the entropy
        of the measured policy, which predicts itself best. Policies of highest entropy
        are uniform in all other decisions, and predict nothing there.
        """
        options = 0.0
        surprise = 0.0
        for name in self.consequential():
            options += log(self.policy[name].shape[-1])
            surprise += self._surprise(self.policy, name)
        return max(options - surprise, 0.0)

    def entropy(self, policies: Policies) -> float:
        """Return the causal entropy in nats (section 3): the sum over decisions, given
        their parents.
        """
        return sum(self._surprise(policies, name) for name in policies)

    def _surprise(self, policies: Policies, name: str) -> float:
        """Return the expected entropy of one decision given its parents."""
        # The decision's own probabilities are in `entr`, so they are left out of the
        # weights.
        weights = self.distribution(policies, [name])
        surprise = self.spread(entr(policies[name]), self.families[name])
        return float((weights * surprise).sum())
