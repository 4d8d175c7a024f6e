"""Environments of gde under Gymnasium's interface, and the reverse.

`from_gymnasium` makes an environment of gde from one of Gymnasium.

Importing this package registers the names that installed plugins offer, so that
`gymnasium.make("gde_plugins.gymnasium:gde/Grid-v0")` finds them.
"""

from gde_plugins.gymnasium.names import register_environments as register_environments
from gde_plugins.gymnasium.offering import from_gymnasium as from_gymnasium
from gde_plugins.gymnasium.playing import GymEnvironment as GymEnvironment
from gde_plugins.gymnasium.playing import Observations as Observations
from gde_plugins.gymnasium.tables import mdp_of as mdp_of
