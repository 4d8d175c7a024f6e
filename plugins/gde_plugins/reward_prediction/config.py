"""Settings of the benchmark and of its study."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le

from gde.offers import ModelName

Share = Annotated[float, Gt(0), Le(1)]


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How trajectories are made; states what the publication leaves open."""

    seed: Annotated[int, Ge(0)] = 0
    """Tasks, padding and random policies follow from it."""
    padding: Annotated[int, Ge(0)] = 3
    """Greatest number of random steps before the expert's and, where the world goes on
    after success, after them; each number up to it is as likely.
    """
    offset: Literal[0, 1] = 1
    """True reward of expert step i of T, counted from 0: (i + offset) / T. With 1 the
    last step earns 1, as in Shen et al. (2026), table 4.
    """
    overlap: Annotated[int, Ge(1)] = 2
    """A random trajectory has no sequence of so many actions in common with the
    expert's.
    """


@dataclass(frozen=True, kw_only=True)
class RewardBenchConfig(Recipe):
    """Recorded trajectories for reward models to judge: made when they are needed, or
    read from a folder.
    """

    domain: Literal[
        "alfworld", "scienceworld", "webshop", "blocksworld", "textworld"
    ] = "blocksworld"
    """The domain of the trajectories."""
    data: str | None = None
    """A folder of trajectories to use instead, see `gde rewardbench build`; those of
    the domain are in its folder of that name.
    """
    share: Share = 1.0
    """Share of the published number of pairs that is made, or of the tasks of a folder,
    which are the first by path. So many episodes as there are trajectories then play
    whole tasks; fewer take trajectories by chance.
    """
    show_success: bool = False
    """Whether the fact `success` tells the expert's way of the task up to the goal,
    [[action, observation], ...], in the failure's world too: for reward models whose
    goals are read off it.
    """


@dataclass(frozen=True, kw_only=True)
class StudyConfig:
    """Settings of `gde reproduce rewardprediction`."""

    data: str | None = None
    """A folder of trajectories, one folder a domain; none makes them when they are
    needed.
    """
    domains: str = ""
    """Names of domains with a + between them; all takes those that can be had here;
    empty those that there are data of, or without data those that need no simulator.
    """
    rewards: str = ""
    """Further reward models, with a + between them; --reward names one with settings of
    its own.
    """
    model: ModelName = ""
    """The language model of the rows that need one: StateFactory, the judges, and the
    ablations; empty leaves judges out, and StateFactory to its rules.
    """
    ablations: bool = True
    """Whether the ablation tables are run too."""
    embedders: str = ""
    """Embedders that are compared beside hashed words, with a + between them: minilm,
    or folders of models.
    """
    agents: bool = False
    """Whether table 2 is run too: its planning agents, which need the language model,
    and beside them a tree search and an agent by chance, which need none. `--agent
    react --set agent.history=2` gives them settings of their own.
    """
    price_in: Annotated[float, Ge(0)] = 0.0
    """Of a million tokens that are sent, for --dry-run."""
    price_out: Annotated[float, Ge(0)] = 0.0
    """Of a million tokens that are answered, for --dry-run."""
    padding: Annotated[int, Ge(0)] = 3
    """As in the environment rewardbench."""
    offset: Literal[0, 1] = 1
    """As in the environment rewardbench."""
