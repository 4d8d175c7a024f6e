"""Parts that tell where they are; in a module of their own, which workers can load."""

import os
import time
from pathlib import Path

from gde import Decision, Observation
from gde.testing.parts import ScriptedAgent


class Slow(ScriptedAgent):
    """Takes its time, and notes where it is."""

    async def act(self, observation: Observation) -> Decision:
        time.sleep(0.05)
        with Path(os.environ["PLACED_PARTS_LOG"]).open("a") as file:
            file.write(f"{os.getpid()}\n")
        return await super().act(observation)


def threads(_: object) -> str:
    import torch

    return str(torch.get_num_threads())
