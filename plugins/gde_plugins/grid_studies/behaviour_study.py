"""The behavioural study of Arghal et al. (2026), section 4 and appendices B to D: its plans and its printed numbers."""

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
from gde.parts.reproduction import Comparison, Run
from gde_plugins.grid_studies.config import BehaviourConfig
from gde_plugins.grid_studies.lookup import find, scaled
from gde_plugins.grid_studies.printed import APPENDIX_D, BASELINE, KEY_DOOR, KEY_NO_DOOR, TWO_PATHS, Quantity

SIZES = (7, 9, 11, 13, 15)
DENSITIES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
TRANSFORMS = ("reflect", "rotate90", "swap", "transpose")
GRIDS, TRAJECTORIES = 10, 10
"""Grids for each pair of size and density, and trajectories on each grid (section 4)."""
KEY_WORLDS, PATH_PAIRS = 100, 49
"""Worlds of KeyDoor and of KeyNoDoor (the authors' release), and pairs of 2PathKey. The latter is inferred: the printed
67.3, 71.4 and 75.5 % are 33, 35 and 37 of 49."""
TRENDS = {"accuracy": "accuracy", "divergence": "policy.jsd", "entropy": "policy.entropy"}
"""Title of a trend to its measurement."""
PAIRED = ("success", "accuracy", "outcomes", "length", "policy", "calibration")
METRICS = (*PAIRED, "efficiency", "overlap", "difficulty", "trends")
KEY_METRICS = ("success", "accuracy", "outcomes", "length", "keys")


class BehaviourStudy:
    """300 base grids, their four transforms and the three key worlds, each in a run of its own.

    At a smaller scale there are fewer worlds; trajectories on each grid, from which the policy is estimated, shrink by
    the square root.
    """

    def __init__(self, config: BehaviourConfig, context: Context) -> None:
        self._config = config
        self._context = context
        self._paired: tuple[Mapping[str, Run], Sequence[Measurement]] | None = None

    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:
        """The base grids, the transformed grids and the key worlds."""
        grids: dict[str, Json] = {"size": list(SIZES), "density": list(DENSITIES)}
        worlds = scaled(GRIDS, scale)
        if self._config.grids:
            grids = {"grids": self._config.grids, "where": "transform=none"}
            worlds = scaled(GRIDS * len(SIZES) * len(DENSITIES), scale)
        base = Plan(
            environment=Choice(name="grid", config=grids),
            agent=agent,
            metrics=tuple(Choice(name=name) for name in METRICS),
            episodes=worlds,
            repeats=scaled(TRAJECTORIES, min(1.0, sqrt(scale))),
        )
        transformed = Choice(name="grid", config={**grids, "transform": list(TRANSFORMS)})
        return {
            "grids": base,
            "transforms": replace(base, environment=transformed, metrics=tuple(Choice(name=name) for name in PAIRED)),
            **_key_plans(scale, agent),
        }

    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:
        """Appendix C, the trends of section 4.1, table 3 and table 1, as far as numbers are printed."""
        grids = runs["grids"].result.measurements
        return [
            *_rows("Base grids (section 4.1)", BASELINE, grids),
            *_trends(grids),
            *_rows(
                "Iso-difficulty transforms against their base grids (table 3)",
                APPENDIX_D,
                self._pairs(runs),
            ),
            *_rows("KeyDoor (table 1)", KEY_DOOR, runs["key-door"].result.measurements),
            *_rows("KeyNoDoor (table 1)", KEY_NO_DOOR, runs["key-no-door"].result.measurements),
            *_rows("2PathKey (table 1)", TWO_PATHS, runs["two-path-key"].result.measurements),
        ]

    def figures(self, runs: Mapping[str, Run]) -> Sequence[Figure]:
        """Accuracy and divergence by distance, the heat maps, the transforms and the key worlds."""
        from gde_plugins.grid_studies.behaviour_figures import breakdown_figures, key_figure, transform_figure

        found = (
            *breakdown_figures(runs["grids"].result),
            transform_figure(self._pairs(runs)),
            key_figure({name: runs[name].result.measurements for name in ("key-no-door", "two-path-key")}),
        )
        return [figure for figure in found if figure is not None]

    def _pairs(self, runs: Mapping[str, Run]) -> Sequence[Measurement]:
        """The `pairs` of these runs, computed once."""
        if self._paired is None or self._paired[0] is not runs:
            self._paired = (runs, pairs(self._context, runs))
        return self._paired[1]


def pairs(context: Context, runs: Mapping[str, Run]) -> Sequence[Measurement]:
    """Compare every transformed grid with its base grid, which is in another run."""
    return context.metric("pairs")(_joined(runs["grids"].evidence, runs["transforms"].evidence))


def _joined(base: Evidence, other: Evidence) -> Evidence:
    """The trajectories of both; those of `other` are moved to conditions of their own."""
    offset = 1 + max((each.key.condition for each in base.trajectories), default=0)
    moved = (replace(each, key=replace(each.key, condition=each.key.condition + offset)) for each in other.trajectories)
    return Evidence(trajectories=(*base.trajectories, *moved), seed=base.seed)


def _key_plans(scale: float, agent: Choice) -> dict[str, Plan]:
    if agent.name == "gpt-oss":  # the authors' release asks for more reasoning here than in the grids
        agent = replace(agent, config={"effort": "medium", **agent.config})
    counterfactuals: Mapping[str, Json] = {"artefact": ["key", "none"]}
    door = Plan(
        environment=Choice(name="key-door"),
        agent=agent,
        metrics=tuple(Choice(name=name) for name in KEY_METRICS),
        episodes=scaled(KEY_WORLDS, scale),
    )
    # Two trajectories a world: their similarity is the baseline for that of worlds with and without the key.
    compared = (*door.metrics, Choice(name="overlap"), Choice(name="pairs"))
    with_counterfactuals = replace(door, metrics=compared, repeats=2)
    return {
        "key-door": door,
        "key-no-door": replace(with_counterfactuals, environment=Choice(name="key-no-door", config=counterfactuals)),
        "two-path-key": replace(
            with_counterfactuals,
            environment=Choice(name="two-path-key", config=counterfactuals),
            episodes=scaled(PATH_PAIRS, scale),
        ),
    }


def _rows(table: str, quantities: Sequence[Quantity], measurements: Sequence[Measurement]) -> Iterator[Comparison]:
    for each in quantities:
        yield Comparison(
            quantity=each.title,
            paper=each.paper,
            ours=find(measurements, each.name, **each.where),
            source=each.source,
            table=table,
        )


def _trends(measurements: Sequence[Measurement]) -> Iterator[Comparison]:
    """The authors say "decreases monotonically" and "linearly" without a number: ours stand alone."""
    for (title, name), by in product(TRENDS.items(), ("size", "density")):
        for what, suffix in (("Spearman's rho", "spearman"), ("its p value", "spearman_p")):
            yield _trend(f"{title} by {by}: {what}", find(measurements, f"trends.{name}.{suffix}", by=by))
    for what, suffix in (("slope", "slope"), ("its p value", "slope_p")):
        ours = find(measurements, f"trends.accuracy.{suffix}", by="distance")
        yield _trend(f"accuracy by distance below 20: {what}", ours)


def _trend(quantity: str, ours: Measurement) -> Comparison:
    source = "Arghal et al. (2026), section 4.1, in words"
    return Comparison(quantity=quantity, paper=None, ours=ours, source=source, table="Trends (section 4.1)")
