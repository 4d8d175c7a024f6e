"""The layers of a causal test: fitted probes and the activations that they read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from gde.data.activations import CaptureRequest
from gde.data.arrays import Floats, Ints
from gde.data.cell_map import CellMap
from gde.data.completion import Completion
from gde.data.place import RESIDUAL
from gde.data.probe import ProbeReport
from gde.data.trajectory import Trajectory, Turn
from gde.errors import GdeError
from gde.parts.context import Context
from gde.parts.language_model import WhiteBox
from gde_plugins.probes.causes.interventions import Direction, Where, prompt_of
from gde_plugins.probes.fitting.places import PlaceWeights
from gde_plugins.probes.maps.probe import CogmapReadout


@dataclass(frozen=True, kw_only=True, eq=False)
class Layer:
    """A layer at which a map can be decoded."""

    index: int
    position: str
    readout: CogmapReadout
    weights: PlaceWeights
    """Parameters of the read-out: linear in the activations, place by place."""
    among: Floats
    """(N, tokens, width) activations of many prompts of the training worlds."""
    places: Mapping[str, Ints] = field(default_factory=dict)
    """Maps a thing to its (N, 2) places in these prompts."""

    @property
    def shape(self) -> tuple[int, int]:
        return self.readout.size, self.readout.size

    @property
    def where(self) -> Where:
        return Where(layer=self.index, position=self.position)

    def code(self, thing: str, classes: Sequence[str]) -> int:
        """Index of a class among those that the probe was trained on."""
        trained: list[int] = self.readout.trained.tolist()
        return trained.index(classes.index(thing))

    def cell(self, place: tuple[int, int]) -> int:
        """Index of a cell in C order."""
        row, column = place
        return row * self.readout.size + column


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A recorded prompt and the map that it shows."""

    answer: Completion
    """The answer to the prompt, which holds its tokens."""
    shown: CellMap

    @classmethod
    def of(cls, trajectory: Trajectory, turn: Turn) -> Self:
        """The prompt of a turn that has a state and an answer."""
        answer = turn.decision.completion
        assert answer is not None and turn.state is not None
        return cls(
            answer=answer, shown=CellMap.from_record(trajectory.world, turn.state)
        )


def load_layers(
    context: Context,
    model: WhiteBox,
    reports: Sequence[ProbeReport],
    prompts: Sequence[Prompt],
) -> list[Layer]:
    """Load the layer of each report with the activations of prompts.

    Raises:
        GdeError: a probe has no weights of places.
    """
    indices = tuple(report.fit.layer for report in reports)
    position = reports[0].fit.position
    answers = [prompt.answer for prompt in prompts]
    records = captured(model, answers, indices, position)
    places = {}
    for thing in ("agent", "goal"):
        places[thing] = np.array([prompt.shown.place_of(thing) for prompt in prompts])

    layers = []
    for report in reports:
        fit = report.fit
        readout: Any = context.readout(fit.probe, fit.name)
        weights = getattr(readout, "weights", None)
        if not isinstance(weights, PlaceWeights):
            raise GdeError(
                f"{fit.name}: wanted a linear probe of maps, got {type(readout).__name__}"
            )
        layers.append(
            Layer(
                index=fit.layer,
                position=fit.position,
                readout=readout,
                weights=weights,
                among=np.array([record[fit.layer] for record in records]),
                places=places,
            )
        )
    return layers


def captured(
    model: WhiteBox,
    answers: Sequence[Completion],
    layers: tuple[int, ...],
    position: str,
    place: str = RESIDUAL,
) -> list[dict[int, Direction]]:
    """Of each answer's prompt, layer to activations (tokens, width) at a place."""
    request = CaptureRequest(layers=layers, positions=(position,), place=place)
    prompts = [prompt_of(answer) for answer in answers]
    return [
        {layer: record.values[layer, position] for layer in layers}
        for record in model.capture(prompts, request)
    ]
