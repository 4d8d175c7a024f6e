"""gde: what an agent is after, from its actions and from its activations, in one record of the same episodes.

Names are loaded when they are first used, so that the command line and the import of a plugin stay light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gde.data.activations import ActivationRecord as ActivationRecord
    from gde.data.activations import CaptureRequest as CaptureRequest
    from gde.data.activations import Intervention as Intervention
    from gde.data.activations import TokenSequence as TokenSequence
    from gde.data.cell_map import CellMap as CellMap
    from gde.data.cell_map import Thing as Thing
    from gde.data.completion import ChatRequest as ChatRequest
    from gde.data.completion import Completion as Completion
    from gde.data.completion import Message as Message
    from gde.data.completion import ModelInfo as ModelInfo
    from gde.data.completion import Sampling as Sampling
    from gde.data.completion import Tokenization as Tokenization
    from gde.data.evidence import Evidence as Evidence
    from gde.data.figure import Figure as Figure
    from gde.data.mdp import Policy as Policy
    from gde.data.mdp import TabularMDP as TabularMDP
    from gde.data.measure import Measure as Measure
    from gde.data.observation import Observation as Observation
    from gde.data.observation import Optimum as Optimum
    from gde.data.observation import Outcome as Outcome
    from gde.data.observation import State as State
    from gde.data.observation import Task as Task
    from gde.data.observation import World as World
    from gde.data.plan import Choice as Choice
    from gde.data.plan import Plan as Plan
    from gde.data.probe import ProbeDataset as ProbeDataset
    from gde.data.probe import ProbeLabels as ProbeLabels
    from gde.data.probe import ProbeReport as ProbeReport
    from gde.data.result import Failure as Failure
    from gde.data.result import Measurement as Measurement
    from gde.data.result import Result as Result
    from gde.data.reward import RewardTrace as RewardTrace
    from gde.data.trajectory import Decision as Decision
    from gde.data.trajectory import EpisodeKey as EpisodeKey
    from gde.data.trajectory import Trajectory as Trajectory
    from gde.data.trajectory import Turn as Turn
    from gde.errors import ConfigError as ConfigError
    from gde.errors import GdeError as GdeError
    from gde.errors import RunFailed as RunFailed
    from gde.errors import UnknownName as UnknownName
    from gde.hookspecs import hookimpl as hookimpl
    from gde.offers import Facet as Facet
    from gde.offers import ModelName as ModelName
    from gde.offers import NoConfig as NoConfig
    from gde.offers import Offer as Offer
    from gde.parts.agent import Agent as Agent
    from gde.parts.agent import Brief as Brief
    from gde.parts.agent import FunctionAgent as FunctionAgent
    from gde.parts.context import Context as Context
    from gde.parts.environment import Environment as Environment
    from gde.parts.environment import HasMDP as HasMDP
    from gde.parts.environment import HasOptimum as HasOptimum
    from gde.parts.environment import HasSnapshot as HasSnapshot
    from gde.parts.environment import HasState as HasState
    from gde.parts.environment import HasWorlds as HasWorlds
    from gde.parts.executor import Executor as Executor
    from gde.parts.language_model import LanguageModel as LanguageModel
    from gde.parts.language_model import WhiteBox as WhiteBox
    from gde.parts.metric import Metric as Metric
    from gde.parts.probe import Probe as Probe
    from gde.parts.probe import Readout as Readout
    from gde.parts.reporter import Reporter as Reporter
    from gde.parts.reward_model import RewardModel as RewardModel
    from gde.request.catalogue import Catalogue as Catalogue
    from gde.request.planfile import read_plan as read_plan
    from gde.request.planfile import write_plan as write_plan
    from gde.request.plugins import load_plugins as load_plugins
    from gde.runs.adding import probe as probe
    from gde.runs.adding import report as report
    from gde.runs.adding import rescore as rescore
    from gde.runs.evaluating import aevaluate as aevaluate
    from gde.runs.evaluating import evaluate as evaluate
    from gde.runs.evaluating import resume as resume
    from gde.stages.evidence import load_evidence as load_evidence

_MODULES = {
    "gde.request.catalogue": ("Catalogue",),
    "gde.data.activations": ("ActivationRecord", "CaptureRequest", "Intervention", "TokenSequence"),
    "gde.data.cell_map": ("CellMap", "Thing"),
    "gde.data.completion": ("ChatRequest", "Completion", "Message", "ModelInfo", "Sampling", "Tokenization"),
    "gde.data.evidence": ("Evidence",),
    "gde.data.figure": ("Figure",),
    "gde.data.mdp": ("Policy", "TabularMDP"),
    "gde.data.measure": ("Measure",),
    "gde.data.observation": ("Observation", "Optimum", "Outcome", "State", "Task", "World"),
    "gde.data.plan": ("Choice", "Plan"),
    "gde.data.probe": ("ProbeDataset", "ProbeLabels", "ProbeReport"),
    "gde.data.result": ("Failure", "Measurement", "Result"),
    "gde.data.reward": ("RewardTrace",),
    "gde.data.trajectory": ("Decision", "EpisodeKey", "Trajectory", "Turn"),
    "gde.errors": ("ConfigError", "GdeError", "RunFailed", "UnknownName"),
    "gde.runs.adding": ("probe", "report", "rescore"),
    "gde.runs.evaluating": ("aevaluate", "evaluate", "resume"),
    "gde.stages.evidence": ("load_evidence",),
    "gde.hookspecs": ("hookimpl",),
    "gde.offers": ("Facet", "ModelName", "NoConfig", "Offer"),
    "gde.parts.agent": ("Agent", "Brief", "FunctionAgent"),
    "gde.parts.context": ("Context",),
    "gde.parts.environment": ("Environment", "HasMDP", "HasOptimum", "HasSnapshot", "HasState", "HasWorlds"),
    "gde.parts.executor": ("Executor",),
    "gde.parts.language_model": ("LanguageModel", "WhiteBox"),
    "gde.parts.metric": ("Metric",),
    "gde.parts.probe": ("Probe", "Readout"),
    "gde.parts.reporter": ("Reporter",),
    "gde.parts.reward_model": ("RewardModel",),
    "gde.request.planfile": ("read_plan", "write_plan"),
    "gde.request.plugins": ("load_plugins",),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 - all of them are strings


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("gde-eval")
    if name not in _HOMES:
        raise AttributeError(f"module 'gde' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
