"""Environments of gde under Gymnasium's interface."""

import string
import sys
from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from gde.data.arrays import Floats
from gde.data.cell_map import CellMap
from gde.data.observation import Observation
from gde.parts.environment import Environment, HasState
from gde_plugins.gymnasium.rewards import Reward, step_reward

LONGEST_TEXT = 65_536
"""Characters that an observation may have."""
FRAMES_PER_SECOND = 4
Info = dict[str, Any]
Observations = Literal["text", "map", "dict"]


class GymEnvironment(gymnasium.Env[Any, np.int64]):
    """An `Environment` with a fixed list of actions, as a Gymnasium environment.

    Observations are texts, or the map with one plane for each kind of cell, or a
    dictionary of `map` and admissible `actions`; action i is `actions[i]`.
    `info["action_mask"]` says which are admissible now, in the form that
    `action_space.sample` takes, and `info["state"]` holds the facts of the true state.
    An episode is truncated at the horizon of its task.
    """

    def __init__(
        self,
        environment: Environment,
        actions: Sequence[str],
        *,
        picture: Callable[[], NDArray[np.uint8]] | None = None,
        render_mode: str | None = None,
        observations: Observations = "text",
        reward: Reward = "environment",
    ) -> None:
        """Wrap `environment`; `picture` draws it as (height, width, 3) RGB.

        Args:
            environment: with observations other than text, one that records a map.
            actions: their names in the order of their numbers.
            picture: draws the present moment.
            render_mode: ansi gives the text, human writes it to the terminal as it
                comes, rgb_array gives the picture.
            observations: text, map or dict.
            reward: environment, success, progress (the change of the certified value), or
                a `gde.reward_model(...)`.

        Raises:
            ValueError: another render mode, or rgb_array without a picture; other
                observations.
        """
        modes = ["ansi", "human", *(["rgb_array"] if picture else [])]
        if observations not in get_args(Observations):
            raise ValueError(
                f"observations: wanted {', '.join(get_args(Observations))}, got {observations!r}"
            )
        if render_mode is not None and render_mode not in modes:
            raise ValueError(
                f"render_mode: wanted {', '.join(modes)} or None, got {render_mode!r}"
            )
        self.metadata = {"render_modes": modes, "render_fps": FRAMES_PER_SECOND}
        self.environment = environment
        self._reward = step_reward(reward, environment)
        self.actions = tuple(actions)
        self.render_mode = render_mode
        self.action_space = spaces.Discrete(len(self.actions))
        self._form = observations
        self._text = ""
        self._picture = picture
        self._turns_left = 0
        self.observation_space: spaces.Space[Any] = spaces.Text(
            LONGEST_TEXT, charset=string.printable
        )
        if observations != "text":
            environment.reset(0)
            shown = self._map()
            # (kinds, rows, columns)
            self._shape = (len(shown.kinds), shown.height, shown.width)
            self.observation_space = spaces.Box(0.0, 1.0, self._shape, np.float32)
        if observations == "dict":
            self.observation_space = spaces.Dict(
                {
                    "map": self.observation_space,
                    "actions": spaces.MultiBinary(len(self.actions)),
                }
            )

    def reset(
        self, *, seed: int | None = None, options: Info | None = None
    ) -> tuple[Any, Info]:
        """Begin the world of `environment.reset(seed)`; without a seed, a random one.

        There are no options.
        """
        super().reset(seed=seed, options=options)
        world_seed = int(self.np_random.integers(2**63)) if seed is None else seed
        observation = self.environment.reset(world_seed)
        self._turns_left = self.environment.task().horizon
        self._reward.begin(observation)
        return self._shown(observation), self._info(observation)

    def step(self, action: np.int64) -> tuple[Any, float, bool, bool, Info]:
        """Take `actions[action]`.

        Raises:
            ValueError: the action is not admissible, or the episode is over.
        """
        name = self.actions[action]
        outcome = self.environment.step(name)
        reward = self._reward.of(name, outcome)
        self._turns_left -= 1
        truncated = outcome.truncated or (
            self._turns_left <= 0 and not outcome.terminated
        )
        shown = self._shown(outcome.observation)
        info = self._info(outcome.observation)
        info["success"] = outcome.success
        return shown, reward, outcome.terminated, truncated, info

    def render(self) -> NDArray[np.uint8] | str | None:
        """Draw this moment: a picture in mode rgb_array, text in mode ansi, else None."""
        if self.render_mode == "ansi":
            return self._text
        if self.render_mode == "rgb_array" and self._picture:
            return self._picture()
        return None

    def close(self) -> None:
        """Release what the environment holds."""
        self.environment.close()

    def _shown(self, observation: Observation) -> Any:
        self._text = observation.text
        if self.render_mode == "human":
            sys.stdout.write(f"{observation.text}\n\n")
        if self._form == "text":
            return observation.text
        planes = self._planes()
        if self._form == "map":
            return planes
        return {"map": planes, "actions": self._mask(observation)}

    def _mask(self, observation: Observation) -> NDArray[np.int8]:
        admissible = observation.actions
        if admissible is None:
            admissible = self.actions
        return np.array(
            [action in admissible for action in self.actions], dtype=np.int8
        )

    def _info(self, observation: Observation) -> Info:
        info: Info = {"action_mask": self._mask(observation)}
        if isinstance(self.environment, HasState):
            info["state"] = self.environment.state().facts
        return info

    def _map(self) -> CellMap:
        environment: Any = self.environment
        return CellMap.from_record(environment.world(), environment.state())

    def _planes(self) -> Floats:
        """The map as one plane for each kind of cell: 1 where a cell is of the kind.

        Worlds that are smaller than the first one leave their lower and right edge
        empty in all planes.

        Raises:
            ValueError: the world is larger than the first one.
        """
        shown = self._map()
        n, height, width = self._shape
        if len(shown.kinds) != n or shown.height > height or shown.width > width:
            raise ValueError(
                f"wanted a map of at most {height} by {width} cells, got {shown.height} by {shown.width}"
            )
        planes = np.zeros(self._shape, dtype=np.float32)
        kinds = np.arange(n)[:, None, None]
        planes[:, : shown.height, : shown.width] = kinds == shown.codes
        return planes
