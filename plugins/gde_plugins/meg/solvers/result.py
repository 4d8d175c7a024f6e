"""The result of a measurement of goal-directedness."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import copysign, log

from gde.data.arrays import Doubles
from gde.data.mdp import Policy


@dataclass(frozen=True, kw_only=True, eq=False)
class Meg:
    """Maximum-entropy goal-directedness of a policy (MacDermott et al. 2024,
    Definitions 3.2 and 4.3), in nats.

    The sum over decisions of how much more log-probability the best soft-optimal policy
    gives to what the policy does than the uniform policy would; a decision's share of
    it is discounted like a reward.
    """

    value: float
    """Nats; 0 for behaviour as good as random, at most `ceiling`."""
    beta: float
    """Rationality of the best soft-optimal policy, in units of 1 / reward; negative
    where the policy works against the utility, +-inf where it is optimal or
    anti-optimal. 1 where the utility, hence its scale, was fitted.
    """
    bounds: tuple[float, float]
    """Certified lower and upper bound of the exact value, up to rounding."""
    converged: bool
    """Whether the bounds are as close as the tolerance asks."""
    decisions: float
    """Expected (discounted) number of decisions of the policy that can have
    consequences for a utility: those in states where actions differ in what follows
    and, for a utility of states alone, before the last step.
    """
    n_actions: int
    utility: Doubles | None = None
    """(S,) or (S, A) utility at rationality `beta`; -inf where the policy never goes,
    which the best fit avoids at any price.
    """
    weights: Doubles | None = None
    """(K,) fitted weights of the features, where utilities are linear in features."""
    name: str = ""
    """The name of the utility, where several were measured."""
    table: Mapping[str, "Meg"] = field(default_factory=dict)
    """By name, where several named utilities were measured."""
    find_policy: Callable[[], Policy] | None = field(default=None, repr=False)
    """Makes `policy`, which is large, so it is made on demand."""

    @cached_property
    def policy(self) -> Policy:
        """The soft-optimal policy that predicts best: (H, S, A), or (S, A) without
        horizon. Needs H * S * A numbers.

        Raises:
            ValueError: there is no model to make it from, or it is too large to
                tabulate.
        """
        if self.find_policy is None:
            raise ValueError(
                "this measurement comes without a tabulated model, hence without a policy"
            )
        return self.find_policy()

    @property
    def ceiling(self) -> float:
        """The most that any policy that takes so many decisions could have: ln |A| each
        (Proposition 3.2).
        """
        return self.decisions * log(self.n_actions)

    @property
    def share(self) -> float | None:
        """Value per decision as a share of `ceiling`, in [0, 1]; None where nothing
        could be decided.
        """
        return self.value / self.ceiling if self.ceiling > 0 else None

    @property
    def signed(self) -> float:
        """The value, negative where the policy does worse than the uniform one
        (MacDermott et al. 2024, footnote 4).
        """
        return copysign(self.value, self.beta) if self.value else 0.0
