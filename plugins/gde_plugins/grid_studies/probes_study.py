"""The representational study of Arghal et al. (2026), section 5 and appendix F: its
plans and its tables.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from gde.data.figure import Figure
from gde.data.json import Json
from gde.data.plan import Choice, Plan
from gde.parts.reproduction import Comparison, Run, scaled
from gde_plugins.grid_studies.cogmap_study import (
    DENSITIES,
    GENERAL,
    SIZES,
    WHITENED,
    WORLDS,
    by_form,
    map_probe,
    map_rows,
    without_layer,
)
from gde_plugins.grid_studies.config import InputForm, ProbesStudyConfig, Turns
from gde_plugins.grid_studies.probe_figures import (
    prefix_figure,
    size_figure,
)
from gde_plugins.grid_studies.published_agent import published
from gde_plugins.grid_studies.rows.beliefs import belief_rows
from gde_plugins.grid_studies.rows.causes import cause_rows
from gde_plugins.grid_studies.rows.maps import LAYERS_SIZE, layer_rows, size_rows
from gde_plugins.grid_studies.rows.plans import distance_rows, plan_rows

CAUSES_WORLDS = 400
"""Grids whose held-out turns are asked again with the residual stream changed; of one
size, so that few will do.
"""


@dataclass(frozen=True)
class ProbesStudy:
    """300 grids of five sizes and six densities read by general probes, and those of
    each size by a probe of its own.

    Inputs are z-scored as published. One more run of the general probes whitens them,
    and its numbers stand in the same tables.

    Where Arghal et al. (2026) train on further, unpublished grids, here 30 % of the
    grids are held out and the others trained on.
    """

    config: ProbesStudyConfig = field(default_factory=ProbesStudyConfig)

    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:
        """The general probes, and a plan for each size; that of size 11 reads early,
        middle and late layers. One more whitens the inputs of the general probes, and
        one asks whether what a linear probe reads causes the actions.
        """
        form = self.config.forms[0]
        turns = self.config.turns
        plan_probe = Choice(name="plan", config={"turns": turns})
        grids: dict[str, Json] = {"size": list(SIZES), "density": list(DENSITIES)}
        metrics = ("success", "accuracy", "maps", "beliefs", "steps")
        general = Plan(
            environment=Choice(name="grid", config=grids),
            agent=published(agent),
            probes=(map_probe(form, GENERAL), _distance(form, turns), plan_probe),
            metrics=metrics,
            episodes=scaled(WORLDS, scale),
        )

        plans = {"general": general}
        for other in self.config.forms[1:]:
            # `plan` normalises its inputs itself, whatever the form.
            probes = (map_probe(other, GENERAL), _distance(other, turns))
            plans[WHITENED] = replace(general, probes=probes)
        for size in SIZES:
            plans[f"size-{size}"] = _of_size(general, size, form)
        plans["causes"] = _causal(general, scaled(CAUSES_WORLDS, scale), form)
        return plans

    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:
        """Figures 6 to 9, tables 2, 5 and 6, and figures 14 and 15, as far as numbers
        are printed.
        """
        measured = {name: run.result.measurements for name, run in runs.items()}
        numbers = without_layer(measured["general"])
        forms = by_form(self.config, runs, "general")
        form = self.config.forms[0]
        of_sizes = {size: measured[f"size-{size}"] for size in SIZES}
        return [
            *map_rows(forms),
            *belief_rows(forms),
            *distance_rows(forms, self.config.turns),
            *plan_rows(numbers, self.config.turns),
            *layer_rows(of_sizes[LAYERS_SIZE], form),
            *cause_rows(measured["causes"], form),
            *size_rows(of_sizes, numbers, form),
        ]

    def figures(self, runs: Mapping[str, Run]) -> Sequence[Figure]:
        """Scores by size (figures 6 and 8) and plans (figure 9); the pages of the runs
        show the decoded maps.
        """
        form = self.config.forms[0]
        numbers = without_layer(runs["general"].result.measurements)
        drawn = (
            size_figure(numbers, form),
            prefix_figure(numbers),
        )
        return [figure for figure in drawn if figure is not None]


def _distance(form: InputForm, turns: Turns) -> Choice:
    """The probe of distances in these turns, on this form of its inputs."""
    # Its MLP converges within the default number of epochs in both forms.
    config: dict[str, Json] = {"whiten": form == "whitened", "turns": turns}
    return Choice(name="distance", config=config)


def _of_size(general: Plan, size: int, form: InputForm) -> Plan:
    """The grids of one size, read by a probe of that size."""
    # Appendix F.1 compares layers on the grids of one size.
    layers: list[Json] = ["middle"]
    if size == LAYERS_SIZE:
        layers = ["early", "middle", "late"]

    grids: dict[str, Json] = {"size": size, "density": list(DENSITIES)}
    config: dict[str, Json] = {
        "size": size,
        "variants": ["mlp"],
        "turns": "all",
        "positions": ["pre"],
        "layer": layers,
    }
    return replace(
        general,
        environment=Choice(name="grid", config=grids),
        probes=(map_probe(form, config),),
        metrics=("success", "maps"),
    )


def _causal(general: Plan, worlds: int, form: InputForm) -> Plan:
    """Grids of one size and density, whose held-out turns are asked again."""
    # `bilinear` is the linear variant with the fewest weights that can find places.
    config: dict[str, Json] = {
        "size": 7,
        "variants": ["bilinear"],
        "turns": "all",
        "positions": ["pre"],
        "layer": ["early", "middle", "late"],
    }
    return replace(
        general,
        environment=Choice(name="grid", config={"size": 7, "density": 0.6}),
        probes=(map_probe(form, config),),
        metrics=("success", "causes"),
        episodes=worlds,
    )
