"""Settings of the benchmark and of its study."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Gt, Le

from gde.data.ranges import Count, Index
from gde.offers import FilePath, ModelName

Share = Annotated[float, Gt(0), Le(1)]


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Recipe of trajectories: choices that the publication leaves open."""

    seed: Index = 0
    """Random seed for tasks, padding and random policies."""
    padding: Index = 3
    """Maximum number of random steps before the expert's steps and, in worlds that
    continue after success, after them; drawn uniformly from 0 to this number.
    """
    offset: Literal[0, 1] = 1
    """True reward of expert step i of T, counted from 0: (i + offset) / T. With 1 the
    last step earns 1, as in Shen et al. (2026), table 4.
    """
    overlap: Count = 2
    """Length of action sequences that a failure must not share with the expert."""
    pairs: Literal[
        "published",
        "hard",
        "near-miss",
        "undone",
        "noisy",
        "scored",
    ] = "published"
    """Failures: published, random steps without progress; hard, several kinds that are
    harder to tell from a success; or one of these kinds. With all but published, the
    truth is the share of the way to the goal that is covered, or the environment's own
    score.
    """


@dataclass(frozen=True, kw_only=True)
class RewardBenchConfig(Recipe):
    """Recorded trajectories for reward models, made on demand or read from a folder."""

    domain: Literal[
        "alfworld", "scienceworld", "webshop", "blocksworld", "textworld"
    ] = "blocksworld"
    """The domain of the trajectories."""
    data: FilePath | None = None
    """Folder of trajectories to use instead, from `gde rewardbench build`, with one
    subfolder per domain.
    """
    share: Share = 1.0
    """Share of the published number of pairs to make, or of the tasks of a folder to
    use, first by path. Episodes count tasks, each with a success and its failures.
    """
    show_success: bool = False
    """Add the fact `demonstration`, the expert's steps up to the goal as [[action,
    observation], ...], to the worlds of successes and failures. Only reward models that
    read their goals from it are shown it.
    """


@dataclass(frozen=True, kw_only=True)
class StudyConfig:
    """Settings of `gde reproduce rewardbench`."""

    data: str | None = None
    """Folder of trajectories, with one subfolder per domain; none: made on demand."""
    domains: str = ""
    """Domains, joined by +; all: the installed ones; empty: those with data, or
    without `data` those that need no simulator.
    """
    model: ModelName = ""
    """Language model of StateFactory, the judges and the ablations; empty: no judges,
    and StateFactory uses its rules.
    """
    ablations: bool = True
    """Also run the ablation tables."""
    embedders: str = ""
    """Embedders to compare with hashed words, joined by +: minilm, or folders of
    models; that of a published embedder, e.g. all-mpnet-base-v2, fills its row.
    """
