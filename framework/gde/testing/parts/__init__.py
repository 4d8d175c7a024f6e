"""Small parts with known properties, to test other parts with."""

from gde.testing.parts.agents import AskingAgent as AskingAgent
from gde.testing.parts.agents import ScriptedAgent as ScriptedAgent
from gde.testing.parts.answers import AnsweringModel as AnsweringModel
from gde.testing.parts.corridor import ACTIONS as ACTIONS
from gde.testing.parts.corridor import LEFT as LEFT
from gde.testing.parts.corridor import RIGHT as RIGHT
from gde.testing.parts.corridor import Corridor as Corridor
from gde.testing.parts.models import TURNING as TURNING
from gde.testing.parts.models import PlantedModel as PlantedModel
from gde.testing.parts.models import ScriptedModel as ScriptedModel
from gde.testing.parts.models import always_right as always_right
