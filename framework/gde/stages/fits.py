"""The fits of a probe: its variants and controls at every layer and position."""

from collections.abc import Iterator

from gde.data.activations import CaptureRequest
from gde.data.completion import ModelInfo
from gde.data.plan import Plan
from gde.data.probe import CONTROLS, Control, Fit
from gde.numerics.controls import DRAWS, MANY
from gde.parts.probe import Probe, reads_one_turn

LARGE = 1e9
"""Parameters of a large model."""
MODEL, UNTRAINED = "model", "untrained"
"""Sources of activations: the run's language model, and the same with random weights."""
OF_A_LAYER: tuple[Control, ...] = ("shuffled", "untrained")
"""Controls that differ from layer to layer; the others read no layer, so that one fit
of them will do.
"""


def list_fits(
    name: str, probe: Probe, request: CaptureRequest, sweeps: bool
) -> Iterator[Fit]:
    """List the fits of a probe: every variant at every layer and position, with its
    controls.

    The first layer has all controls, the others those that differ from layer to layer.
    Only a run that sweeps something has the control `conditions`.
    """
    without = OF_A_LAYER if sweeps else (*OF_A_LAYER, "conditions")
    once = tuple(control for control in CONTROLS if control not in without)
    for layer in request.layers:
        controls: tuple[Control, ...] = ("none", *OF_A_LAYER)
        if layer == request.layers[0]:
            controls += once
        for position in request.positions:
            for control in controls:
                for variant in probe.variants:
                    yield Fit(
                        probe=name,
                        variant=variant,
                        layer=layer,
                        position=position,
                        control=control,
                    )


def initialisations_of(plan: Plan, info: ModelInfo, probe: Probe) -> int:
    """How many random initialisations a probe is fitted to."""
    if plan.initialisations is not None:
        return plan.initialisations
    # The matrices of a layer have about twelve times the square of its width.
    is_small = 12 * info.n_layers * info.width**2 < LARGE
    return MANY if is_small and reads_one_turn(probe) else DRAWS


def untrained_sources(initialisations: int) -> list[str]:
    """The sources of the model with random weights, one for each initialisation."""
    return [UNTRAINED, *(f"{UNTRAINED}-{i}" for i in range(1, initialisations))]


def of_seed(source: str, seed: int, own: int) -> str:
    """A source in a run with its own seed; one of random weights that another seed has
    drawn has a name of its own.
    """
    if seed == own or not source.startswith(UNTRAINED):
        return source
    return source.replace(UNTRAINED, f"{UNTRAINED}-of-seed-{seed}")


def of_weights(source: str, weights: str) -> str:
    """The source of local weights; without any, that of the agent's own model."""
    return f"{source}-{weights}" if weights else source
