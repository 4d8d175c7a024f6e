"""Settings of the statistical tests."""

from dataclasses import dataclass

MEASURES = ("success", "accuracy", "policy.jsd", "policy.entropy", "length")


@dataclass(frozen=True)
class PairsConfig:
    """Measurements that are compared between a world and its variations."""

    measures: tuple[str, ...] = MEASURES
    """Names of measurements of whole worlds. The metric that gives one is named by its
    part before the first dot.
    """
    each_episode: tuple[str, ...] = ("success", "accuracy", "length")
    """Those of them that are also taken of every single episode, and tested for a
    change in whatever direction.
    """


@dataclass(frozen=True)
class TrendsConfig:
    """Measurements whose trends are tested, and along which labels."""

    measures: tuple[str, ...] = MEASURES
    """Names of measurements of whole worlds. The metric that gives one is named by its
    part before the first dot.
    """
    by: tuple[str, ...] = ("size", "density")
    """Labels of the run that are numbers; those that do not vary are left out."""
