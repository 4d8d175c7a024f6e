"""A Gymnasium environment as a part of a plan, in one call."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import gymnasium
from gymnasium.envs.registration import EnvSpec

from gde.data.plan import Choice
from gde.errors import GdeError
from gde.foreign import shown
from gde.offers import Capability, EnvironmentOffer
from gde_plugins.gymnasium.tables import tabulate
from gde_plugins.gymnasium.text import readable, unpainted
from gde_plugins.gymnasium.worlds import (
    Gym,
    GymnasiumConfig,
    GymnasiumWorld,
    Reading,
    Success,
    TabulatedWorld,
    Text,
    action_names,
)

Source = str | EnvSpec | Callable[[], Gym]
ANSI = "ansi"
WANTED = "one environment of Gymnasium, no vector of several"


def from_gymnasium(
    environment: Source | Gym,
    *,
    text: Text | None = None,
    success: Success | Reading | None = None,
    actions: Sequence[str] = (),
    objective: str = "",
    rules: str = "",
    horizon: int | None = None,
    discount: float = 0.99,
    **options: Any,
) -> Choice:
    """A Gymnasium environment with discrete actions as the environment of a plan.

    For example `Plan(environment=from_gymnasium("FrozenLake-v1"), ...)`.

    Toy-text environments with a table of transitions (FrozenLake, CliffWalking, Taxi)
    give STATE, MDP and OPTIMUM. All give SNAPSHOT, by playing the episode again from
    its seed. Worlds are told apart by their table and first state, else by what is seen
    first and by the `hash()` of environments that have one (MiniGrid).

    Args:
        environment: an id, `MODULE:ID` where a module has to be imported first
            (`minigrid:MiniGrid-Empty-5x5-v0`); a class or function without arguments;
            or what `gymnasium.make` has made, of which others are made by its spec.
        text: the text that the agent reads, from an observation and the environment. By
            default what the environment draws as text, else the observation in numbers
            and names.
        success: the share of the goal that has been reached, 0 to 1, from a step's
            reward, whether it has terminated the episode, and its `info`; None where
            there is no goal. Or the name of a reading, see `GymnasiumConfig`. By
            default 1 once an episode has terminated with a positive reward, with a
            remark before the run where that is a guess.
        actions: names of the actions, see `GymnasiumConfig`, as for the others.
        objective: the agent's objective.
        rules: rules shown to the agent.
        horizon: turns allowed.
        discount: of future rewards, where a table gives the optimum. options: keyword
            arguments of `gymnasium.make`; plain values, which the plan writes down.

    Raises:
        GdeError: it cannot be made, or its actions are not discrete.
    """
    if isinstance(environment, str | EnvSpec) or (
        callable(environment) and not isinstance(environment, gymnasium.Env)
    ):
        source = environment
    elif not isinstance(environment, gymnasium.Env):
        raise GdeError(f"from_gymnasium: wanted {WANTED}, got {shown(environment)}")
    elif environment.spec is not None:
        source = environment.spec
    else:
        wanted = "wanted its id or a function that makes it, because the environment has no spec"
        raise GdeError(f"{environment}: {wanted}")
    reading = success if isinstance(success, str) else None
    make = Maker(source, text, success if callable(success) else None)
    config = GymnasiumConfig(
        options=options,
        actions=tuple(actions),
        objective=objective,
        rules=rules,
        success=reading,
        horizon=horizon,
        discount=discount,
    )
    values = {
        name: each for name, each in vars(config).items() if each not in ((), "", None)
    }
    try:
        plain = json.loads(json.dumps(values, allow_nan=False))
    except (TypeError, ValueError) as error:
        wanted = "options of plain values for the plan; otherwise give a function that makes the environment"
        raise GdeError(f"{make.name}: wanted {wanted} ({error})") from error
    gives = {Capability.SNAPSHOT, Capability.REMARKS}
    with closing(make(config)) as example:
        if isinstance(example, TabulatedWorld):
            gives |= {Capability.STATE, Capability.MDP, Capability.OPTIMUM}
    offer = EnvironmentOffer(
        name=make.name,
        summary=f"{make.name} of Gymnasium",
        config=GymnasiumConfig,
        make=make,
        gives=frozenset(gives),
        imports=("gymnasium",),
        extra="minigrid",
    )
    return replace(Choice.of(offer), config=plain)


@dataclass(frozen=True)
class Maker:
    """Makes an environment; it can be pickled if its functions can."""

    source: Source
    text: Text | None
    success: Success | None

    @property
    def name(self) -> str:
        """The name of the environment."""
        if isinstance(self.source, str):
            return self.source.rpartition(":")[2]
        if isinstance(self.source, EnvSpec):
            return self.source.id
        return getattr(self.source, "__name__", type(self.source).__name__)

    def __call__(self, config: GymnasiumConfig, _: object = None) -> GymnasiumWorld:
        """A new environment.

        Raises:
            GdeError: it cannot be made, or its actions are not discrete.
        """
        environment = self._environment(config.options)
        if not isinstance(environment, gymnasium.Env):
            got = shown(environment)
            raise GdeError(
                f"{self.name}: wanted a function that makes {WANTED}, got {got}"
            )
        text = self.text or (drawn if environment.render_mode == ANSI else told)
        mdp = tabulate(
            environment,
            action_names(self.name, environment, config.actions),
            config.discount,
        )
        if mdp is None:
            return GymnasiumWorld(self.name, environment, config, text, self.success)
        return TabulatedWorld(mdp, self.name, environment, config, text, self.success)

    def _environment(self, options: Mapping[str, Any]) -> Gym:
        try:
            if callable(self.source) and not isinstance(self.source, EnvSpec):
                return self.source()
            environment = gymnasium.make(
                self.source, disable_env_checker=True, **options
            )

            # Only an environment that is made says whether it draws itself as text.
            silent = self.text is None and environment.render_mode is None
            if silent and ANSI in environment.metadata["render_modes"]:
                environment = gymnasium.make(
                    self.source, disable_env_checker=True, render_mode=ANSI, **options
                )
        except Exception as error:
            hint = (
                "; an id of another package is MODULE:ID"
                if isinstance(error, gymnasium.error.NameNotFound)
                else ""
            )
            raise GdeError(
                f"Gymnasium cannot make {self.name}: {error}{hint}"
            ) from error
        return environment


def drawn(_: Any, environment: Gym) -> str:
    """The environment's drawing as text."""
    return unpainted(str(environment.render()))


def told(observation: Any, _: Gym) -> str:
    """The observation itself."""
    return readable(observation)
