"""The plugin keeps gde's contract, and the agent goes left."""

import asyncio

import gde_leftist

from gde import Brief, Observation, Task
from gde.testing import check_agent, check_plugin


def test_contract() -> None:
    check_plugin(gde_leftist)
    check_agent(lambda: gde_leftist.Leftist(gde_leftist.LeftistConfig()))


def test_a_sure_leftist_always_goes_left() -> None:
    agent = gde_leftist.Leftist(gde_leftist.LeftistConfig(p=1))
    agent.begin(Brief(task=Task(objective="Go.", horizon=1), seed=0))
    decision = asyncio.run(agent.act(Observation(text="", actions=("UP", "LEFT"))))
    assert decision.action == "LEFT"
