"""The contract as tests: one check for each protocol, and small parts to test with.

A check takes a factory of the part and uses the part as a run would. It returns nothing
when every promise holds, and else raises an AssertionError whose sentence names the
broken promise.
"""

from gde.testing.agent import check_agent as check_agent
from gde.testing.environment import check_environment as check_environment
from gde.testing.executor import check_executor as check_executor
from gde.testing.language_model import check_language_model as check_language_model
from gde.testing.language_model import check_served as check_served
from gde.testing.measurements import check_measurements as check_measurements
from gde.testing.metric import check_metric as check_metric
from gde.testing.offer import check_offer as check_offer
from gde.testing.plugins import check_plugin as check_plugin
from gde.testing.probe import check_probe as check_probe
from gde.testing.reader import check_reader as check_reader
from gde.testing.reporter import check_reporter as check_reporter
from gde.testing.reproduction import check_reproduction as check_reproduction
from gde.testing.reward_model import check_reward_model as check_reward_model
from gde.testing.reward_model import check_truth_reader as check_truth_reader
from gde.testing.reward_model import is_causal as is_causal
from gde.testing.simulator import check_simulator as check_simulator
from gde.testing.white_box import check_white_box as check_white_box
