"""A language model that thinks aloud and notes what it is asked, as a plugin of the
tests.
"""

import asyncio
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gde import ChatRequest, Completion, ModelInfo, ModelOffer, hookimpl
from gde.seeding import derive

STOP = "THINKING_PARTS_STOP"
"""An environment variable: after how many requests the model is interrupted, as by
Ctrl-C.
"""
LISTED = re.compile(r"^- (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class ThinkerConfig:
    source: str
    """The file that requests are noted in."""


@dataclass
class Thinker:
    """Names listed actions by chance, and every fifth time forgets to think."""

    log: Path

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(name="thinker")

    async def complete(self, request: ChatRequest) -> Completion:
        await asyncio.sleep(0)
        asked = self.log.read_text().splitlines() if self.log.exists() else []
        if len(asked) >= int(os.environ.get(STOP, "1000000")):
            raise KeyboardInterrupt
        self.log.write_text("\n".join([*asked, request.identity]) + "\n")
        listed = LISTED.findall(
            request.messages[-1].content.partition("Predicted")[0]
        ) or ["nothing"]
        drawn = derive(request.seed, "thought")
        label = "Action 1" if "Action 1" in request.messages[-1].content else "Action"
        thought = "" if drawn % 5 == 0 else "Thought: why not?\n"
        text = f"{thought}{label}: {listed[drawn % len(listed)]}"
        return Completion(
            text=text, reasoning=None, finish="stop", n_prompt=9, n_completion=9
        )

    def close(self) -> None:
        """Nothing to release."""


@hookimpl
def gde_language_models() -> Sequence[ModelOffer[Any, Any]]:
    make = lambda config, _: Thinker(Path(config.source))  # noqa: E731
    return (ModelOffer(name="thinker", summary="s", config=ThinkerConfig, make=make),)
