"""Goal-directedness in causal influence diagrams (MacDermott et al. 2024, sections 3
and 4).
"""

from gde_plugins.meg.causal.diagram import Diagram, Node, chance, decision, utility
from gde_plugins.meg.causal.inference import joint
from gde_plugins.meg.causal.known import known_utility, solving_order
from gde_plugins.meg.causal.libraries import from_pgmpy
from gde_plugins.meg.causal.measurement import DiagramMeg
from gde_plugins.meg.causal.mice import forgetful_mouse, mouse
from gde_plugins.meg.causal.parametric import unknown_utility
from gde_plugins.meg.causal.recall import with_recall
from gde_plugins.meg.causal.targets import target_variables

__all__ = [
    "Diagram",
    "DiagramMeg",
    "Node",
    "chance",
    "decision",
    "forgetful_mouse",
    "from_pgmpy",
    "joint",
    "known_utility",
    "mouse",
    "solving_order",
    "target_variables",
    "unknown_utility",
    "utility",
    "with_recall",
]
