"""Worlds and agents that harm the machine they are on; in a module of their own, which workers can load."""

import os
import time
from pathlib import Path

from gde import Decision, Observation, Outcome
from gde.testing.parts import Corridor, ScriptedAgent


class Mined(Corridor):
    """Takes its whole process along in the third cell of the worlds that begin in the first."""

    def step(self, action: str) -> Outcome:
        outcome = super().step(action)
        if (self.start, self.at) == (0, 2):
            os._exit(7)
        return outcome


def mined() -> Corridor:
    return Mined(5)


def long_corridor() -> Corridor:
    return Corridor(12)


class Slow(ScriptedAgent):
    """Takes its time, and notes where it is."""

    async def act(self, observation: Observation) -> Decision:
        time.sleep(0.05)
        with Path(os.environ["DEADLY_PARTS_LOG"]).open("a") as file:
            file.write(f"{os.getpid()}\n")
        return await super().act(observation)


def threads(_: object) -> str:
    import torch

    return str(torch.get_num_threads())
