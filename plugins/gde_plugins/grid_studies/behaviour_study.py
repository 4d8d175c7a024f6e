"""The behavioural study of Arghal et al. (2026), section 4 and appendices B to D: its
plans and its printed numbers.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import sqrt

from gde.data.evidence import Evidence
from gde.data.figure import Figure
from gde.data.json import Json
from gde.data.plan import Choice, Plan
from gde.data.result import Measurement
from gde.parts.context import Context
from gde.parts.reproduction import Comparison, Run, scaled
from gde_plugins.grid_studies.config import BehaviourConfig
from gde_plugins.grid_studies.lookup import find
from gde_plugins.grid_studies.published import (
    BEYOND,
    Quantity,
    quantities,
    transforms,
)
from gde_plugins.grid_studies.published_agent import published

SIZES = (7, 9, 11, 13, 15)
DENSITIES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
TRANSFORMS = ("reflect", "rotate90", "swap", "transpose")
GRIDS = 10
"""Grids for each pair of size and density (section 4)."""
TRAJECTORIES = 10
"""Trajectories on each grid (section 4)."""
KEY_WORLDS = 100
"""Worlds of KeyDoor and of KeyNoDoor (the authors' release)."""
PATH_PAIRS = 49
"""Pairs of 2PathKey. Inferred: the printed 67.3, 71.4 and 75.5 % are 33, 35 and 37 of
49.
"""
LARGER: Mapping[str, Json] = {"size": 17, "horizon": 60}
"""2PathKey with 33 base grids. The published size has five, too few for a test."""
LARGER_PATHS = "two-path-key-17"
"""The plan of these worlds."""
TRENDS = {
    "accuracy": "accuracy",
    "divergence": "policy.jsd",
    "entropy": "policy.entropy",
}
"""Title of a trend to its measurement."""
PAIRED = ("success", "accuracy", "outcomes", "length", "policy", "calibration")
METRICS = (*PAIRED, "efficiency", "overlap", "difficulty", "trends")
KEY_METRICS = ("success", "accuracy", "outcomes", "length", "keys")


class BehaviourStudy:
    """300 base grids, their four transforms and the three key worlds, each in a run of
    its own; 2PathKey once more with more base grids.

    At a smaller scale there are fewer worlds; trajectories on each grid, from which the
    policy is estimated, shrink by the square root.
    """

    def __init__(self, config: BehaviourConfig, context: Context) -> None:
        self._config = config
        self._context = context
        self._paired: Sequence[Measurement] = ()
        self._paired_runs: Mapping[str, Run] | None = None

    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:
        """The base grids, the transformed grids and the key worlds."""
        grids: dict[str, Json] = {"size": list(SIZES), "density": list(DENSITIES)}
        worlds = scaled(GRIDS, scale)
        if self._config.grids:
            # A plan counts episodes by condition, and a file of grids is one condition.
            grids = {"grids": self._config.grids, "where": "transform=none"}
            n_conditions = len(SIZES) * len(DENSITIES)
            worlds = scaled(GRIDS * n_conditions, scale)

        base = Plan(
            environment=Choice(name="grid", config=grids),
            agent=published(agent),
            metrics=METRICS,
            episodes=worlds,
            repeats=scaled(TRAJECTORIES, min(1.0, sqrt(scale))),
        )
        # A run of its own, so that the base grids can be reported without their
        # transforms.
        transforms = {**grids, "transform": list(TRANSFORMS)}
        transformed = replace(
            base,
            environment=Choice(name="grid", config=transforms),
            metrics=PAIRED,
        )
        return {
            "grids": base,
            "transforms": transformed,
            **_key_plans(scale, agent),
        }

    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:
        """Appendix C, the trends of section 4.1, table 3 and table 1, as far as numbers
        are printed.
        """
        measured = {name: run.result.measurements for name, run in runs.items()}
        paired = self._pairs(runs)
        return [
            *_rows(
                "Base grids (section 4.1)", quantities("base-grids"), measured["grids"]
            ),
            *_trends(measured["grids"]),
            *_rows(
                "Iso-difficulty transforms against their base grids (table 3)",
                transforms(),
                paired,
            ),
            *_rows("KeyDoor (table 1)", quantities("key-door"), measured["key-door"]),
            *_rows(
                "KeyNoDoor (table 1)",
                quantities("key-no-door"),
                measured["key-no-door"],
            ),
            *_two_paths(measured),
        ]

    def figures(self, runs: Mapping[str, Run]) -> Sequence[Figure]:
        """Accuracy and divergence by distance, the heat maps, the transforms and the
        key worlds.
        """
        from gde_plugins.grid_studies.behaviour_figures import (
            breakdown_figures,
            key_figure,
            transform_figure,
        )

        with_counterfactuals = {}
        for name in ("key-no-door", "two-path-key", LARGER_PATHS):
            with_counterfactuals[name] = runs[name].result.measurements

        figures = [*breakdown_figures(runs["grids"].result)]
        for figure in (
            transform_figure(self._pairs(runs)),
            key_figure(with_counterfactuals),
        ):
            if figure is not None:
                figures.append(figure)
        return figures

    def _pairs(self, runs: Mapping[str, Run]) -> Sequence[Measurement]:
        """The `pairs` of these runs, computed once for the tables and the figures."""
        if self._paired_runs is not runs:
            self._paired = pairs(self._context, runs)
            self._paired_runs = runs
        return self._paired


def pairs(context: Context, runs: Mapping[str, Run]) -> Sequence[Measurement]:
    """Compare every transformed grid with its base grid, which is in another run."""
    joined = _joined(runs["grids"].evidence, runs["transforms"].evidence)
    return context.metric("pairs")(joined)


def _joined(base: Evidence, other: Evidence) -> Evidence:
    """The trajectories of both; those of `other` are moved to conditions of their
    own.
    """
    # Both runs count their conditions from 0, and keys must stay unique.
    trajectories = [*base.trajectories]
    offset = 1 + max((each.key.condition for each in trajectories), default=0)
    for each in other.trajectories:
        key = replace(each.key, condition=each.key.condition + offset)
        trajectories.append(replace(each, key=key))
    return Evidence(trajectories=tuple(trajectories), seed=base.seed)


def _key_plans(scale: float, agent: Choice) -> dict[str, Plan]:
    # The authors' release asks for more reasoning here than in the grids.
    agent = published(agent, effort="medium")

    door = Plan(
        environment="key-door",
        agent=agent,
        metrics=KEY_METRICS,
        episodes=scaled(KEY_WORLDS, scale),
    )

    # Two trajectories a world: their similarity is the baseline for that of worlds with
    # and without the key.
    compared = replace(
        door,
        metrics=(*KEY_METRICS, "overlap", "pairs"),
        repeats=2,
    )
    artefacts: Mapping[str, Json] = {"artefact": ["key", "none"]}
    no_door = replace(
        compared,
        environment=Choice(name="key-no-door", config=artefacts),
    )
    two_paths = replace(
        compared,
        environment=Choice(name="two-path-key", config=artefacts),
        episodes=scaled(PATH_PAIRS, scale),
    )
    larger = replace(
        compared,
        environment=Choice(name="two-path-key", config={**artefacts, **LARGER}),
    )
    return {
        "key-door": door,
        "key-no-door": no_door,
        "two-path-key": two_paths,
        LARGER_PATHS: larger,
    }


def _two_paths(
    measured: Mapping[str, Sequence[Measurement]],
) -> Iterator[Comparison]:
    """2PathKey as published, and in worlds of enough base grids for a test."""
    printed = quantities("two-path-key")
    table = "2PathKey (table 1)"
    yield from _rows(table, printed, measured["two-path-key"])

    table = f"2PathKey of size {LARGER['size']}, which was not published"
    for row in _rows(table, printed, measured[LARGER_PATHS]):
        yield replace(row, paper=None, source=BEYOND)


def _rows(
    table: str, printed: Sequence[Quantity], measurements: Sequence[Measurement]
) -> Iterator[Comparison]:
    for each in printed:
        yield Comparison(
            quantity=each.title,
            paper=each.paper,
            ours=find(measurements, each.name, **each.where),
            source=each.source,
            table=table,
        )


def _trends(measurements: Sequence[Measurement]) -> Iterator[Comparison]:
    """The authors say "decreases monotonically" and "linearly" without a number: ours
    stand alone.
    """
    for (title, name), by in product(TRENDS.items(), ("size", "density")):
        rho = find(measurements, f"trends.{name}.spearman", by=by)
        yield _trend(f"{title} by {by}: Spearman's rho", rho)
        p_value = find(measurements, f"trends.{name}.spearman_p", by=by)
        yield _trend(f"{title} by {by}: its p value", p_value)

    slope = find(measurements, "trends.accuracy.slope", by="distance")
    yield _trend("accuracy by distance below 20: slope", slope)
    p_value = find(measurements, "trends.accuracy.slope_p", by="distance")
    yield _trend("accuracy by distance below 20: its p value", p_value)
    for title, name in (("accuracy", "accuracy"), ("divergence", "jsd")):
        slope = find(measurements, f"difficulty.{name}.variance")
        yield _trend(f"variance of {title} by distance: slope", slope)
        p_value = find(measurements, f"difficulty.{name}.variance_p")
        yield _trend(f"variance of {title} by distance: its p value", p_value)


def _trend(quantity: str, ours: Measurement) -> Comparison:
    return Comparison(
        quantity=quantity,
        paper=None,
        ours=ours,
        source="Arghal et al. (2026), section 4.1, in words",
        table="Trends (section 4.1)",
    )
