from . import causal as causal
from .causal import target_variables as target_variables
from .solvers.known import known_utility as known_utility
from .solvers.process import soft_policy as soft_policy
from .solvers.result import Meg as Meg
from .solvers.unknown import unknown_utility as unknown_utility
from .trajectories.estimation import from_trajectories as from_trajectories
