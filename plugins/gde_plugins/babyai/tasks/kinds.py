"""The three kinds of questions by name."""

from collections.abc import Callable, Mapping

from gde_plugins.babyai.tasks.decompose import Decompose
from gde_plugins.babyai.tasks.plan import PlanQuestion
from gde_plugins.babyai.tasks.predict import Predict
from gde_plugins.babyai.tasks.question import Question
from gde_plugins.babyai.worlds.scene import Scene

KINDS: Mapping[str, Callable[[Scene], Question]] = {"predict": Predict, "plan": PlanQuestion, "decompose": Decompose}
