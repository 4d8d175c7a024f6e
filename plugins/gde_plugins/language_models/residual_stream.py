"""Reading and changing the residual stream of a model, by hooks at its layers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import ModuleList

from gde.data.activations import EMBEDDING, Intervention
from gde.errors import GdeError

Visit = Callable[[Tensor], Tensor | None]
"""Sees the stream (B, T, width) at the output of a layer; gives another to go on with,
or None to leave it.
"""


@dataclass(frozen=True)
class Change:
    """An intervention at its tokens of one sequence."""

    intervention: Intervention
    places: tuple[int, ...]
    """Indices of the tokens in the sequence."""

    @classmethod
    def of(
        cls,
        interventions: Sequence[Intervention],
        positions: Mapping[str, Sequence[int]],
    ) -> "tuple[Change, ...]":
        """The interventions at the positions of a sequence."""
        places = [tuple(positions[each.position]) for each in interventions]
        return tuple(map(cls, interventions, places))


def decoder_layers(model: Any) -> Sequence[Any]:
    """Return the decoder layers of a model, first to last.

    They are the list of as many modules as the configuration has layers, whatever its
    name; the outermost of several.

    Raises:
        GdeError: there is none.
    """
    n = model.config.get_text_config().num_hidden_layers
    found: dict[str, Any] = {}
    for name, each in model.get_decoder().named_modules():
        if isinstance(each, ModuleList) and len(each) == n:
            found[name] = each
    if not found:
        raise GdeError(
            f"{type(model).__name__}: found no list of {n} decoder layers, so none can be read or changed"
        )
    return [*found[min(found, key=lambda name: name.count("."))]]


@contextmanager
def visiting(layers: Sequence[Any], visits: Mapping[int, Visit]) -> Iterator[None]:
    """Show the stream at some layers of every forward pass to visitors.

    EMBEDDING is the input of the first layer. Of two visitors of a layer, the earlier
    one is shown it first.
    """

    def entering(visit: Visit) -> Callable[..., Any]:
        def hook(_module: Any, inputs: tuple[Any, ...]) -> Any:
            stream = visit(inputs[0])
            return None if stream is None else (stream, *inputs[1:])

        return hook

    def leaving(visit: Visit) -> Callable[..., Any]:
        def hook(_module: Any, _inputs: Any, output: Any) -> Any:
            if not isinstance(output, tuple):
                return visit(output)
            stream = visit(output[0])
            return None if stream is None else (stream, *output[1:])

        return hook

    with ExitStack() as hooks:
        for layer, visit in visits.items():
            if layer == EMBEDDING:
                hook = layers[0].register_forward_pre_hook(entering(visit))
            else:
                hook = layers[layer].register_forward_hook(leaving(visit))
            hooks.callback(hook.remove)
        yield


@contextmanager
def changing(
    model: Any, batch: Sequence[Sequence[Change]], offsets: Sequence[int]
) -> Iterator[None]:
    """Make the interventions of every row of a batch during its forward passes.

    The tokens may be passed all at once or piece by piece.

    Args:
        model: of transformers.
        batch: the changes of each row, in the order in which they are made.
        offsets: tokens of padding before each row.

    Raises:
        GdeError: the pass did not go through a layer that was to be changed.
    """
    rows_at: dict[int, list[tuple[int, Change]]] = {}
    for row, changes in enumerate(batch):
        for change in changes:
            rows_at.setdefault(change.intervention.layer, []).append((row, change))
    if not rows_at:
        yield
        return
    passed = dict.fromkeys(rows_at, 0)

    def at(layer: int) -> Visit:
        def visit(stream: Tensor) -> Tensor:
            begin = passed[layer]
            end = begin + stream.shape[1]
            passed[layer] = end
            changed = stream.clone()
            for row, change in rows_at[layer]:
                here = np.array(change.places) + offsets[row]
                which = np.flatnonzero((begin <= here) & (here < end))
                if len(which):
                    places = here[which] - begin
                    changed[row, places] = _applied(
                        change.intervention, which, changed[row, places]
                    )
            return changed

        return visit

    with visiting(decoder_layers(model), {layer: at(layer) for layer in rows_at}):
        yield
    missed = [layer for layer, tokens in passed.items() if not tokens]
    if missed:
        raise GdeError(
            f"{type(model).__name__}: an intervention was not made: no forward pass went through layer {min(missed)}"
        )


def _applied(
    intervention: Intervention, which: NDArray[np.intp], stream: Tensor
) -> Tensor:
    """(K, width) of those tokens of the position after the change, computed in float32
    or better.
    """
    if intervention.vector.ndim == 2 and len(which) < len(intervention.vector):
        intervention = replace(intervention, vector=intervention.vector[which])
    precise = stream.to(torch.promote_types(stream.dtype, torch.float32)).cpu().numpy()
    changed = np.ascontiguousarray(intervention.applied(precise))
    return torch.from_numpy(changed).to(device=stream.device, dtype=stream.dtype)
