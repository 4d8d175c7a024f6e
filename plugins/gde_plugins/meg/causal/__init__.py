"""Goal-directedness in causal influence diagrams (MacDermott et al. 2024, sections 3
and 4).
"""

from gde_plugins.meg.causal.diagram import Diagram, Node, chance, decision, utility
from gde_plugins.meg.causal.functions import from_functions
from gde_plugins.meg.causal.libraries import from_pgmpy
from gde_plugins.meg.causal.measurement import DiagramMeg
from gde_plugins.meg.causal.mice import mouse
from gde_plugins.meg.causal.recall import with_recall
from gde_plugins.meg.causal.targets import target_variables
from gde_plugins.meg.causal.utilities import (
    optimal,
    towards_utilities,
    towards_weighted_utilities,
)

__all__ = [
    "Diagram",
    "DiagramMeg",
    "Node",
    "chance",
    "decision",
    "from_functions",
    "from_pgmpy",
    "mouse",
    "optimal",
    "target_variables",
    "towards_utilities",
    "towards_weighted_utilities",
    "utility",
    "with_recall",
]
