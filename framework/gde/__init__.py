"""Evaluate the goal-directedness of agents, from their actions and their activations.

Names are loaded when they are first used, so that the command line and plugins start
fast. The stub beside this file lists them.
"""

from typing import Any

import lazy_loader

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("gde-eval")
    return _load(name)
