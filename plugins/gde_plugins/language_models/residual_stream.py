"""Reading and changing the activations of a model, by hooks at the places of its layers."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gde.data.activations import Intervention
from gde.errors import GdeError
from gde_plugins.language_models.places import At, Site, sites_of

Visit = Callable[[Tensor], Tensor | None]
"""Sees the activations (B, T, width) at a place; gives others to go on with, or None to
leave them.
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


@contextmanager
def visiting(visits: Iterable[tuple[Site, Visit]]) -> Iterator[None]:
    """Show the activations at some places of every forward pass to visitors.

    Of two visitors of a place, the earlier one is shown them first.
    """
    with ExitStack() as hooks:
        for site, visit in visits:
            shown = partial(_shown, visit, site.span)
            if site.enters:
                hook = site.module.register_forward_pre_hook(
                    lambda _module, inputs, shown=shown: shown(inputs)
                )
            else:
                hook = site.module.register_forward_hook(
                    lambda _module, _inputs, output, shown=shown: shown(output)
                )
            hooks.callback(hook.remove)
        yield


def _shown(visit: Visit, span: slice, passed: Any) -> Any:
    """Show a visitor what a module is given or gives: a tensor, or a tuple with it first.

    Return what goes on instead, or None.
    """
    whole, *others = passed if isinstance(passed, tuple) else (passed,)
    changed = visit(whole[..., span])
    if changed is None:
        return None
    if changed.shape != whole.shape:
        rest = whole.clone()
        rest[..., span] = changed
        changed = rest
    return (changed, *others) if isinstance(passed, tuple) else changed


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
        GdeError: the pass did not go through a place that was to be changed.
    """
    rows_at: dict[At, list[tuple[int, Change]]] = {}
    for row, changes in enumerate(batch):
        for change in changes:
            at = change.intervention.layer, change.intervention.place
            rows_at.setdefault(at, []).append((row, change))
    if not rows_at:
        yield
        return
    passed = dict.fromkeys(rows_at, 0)

    def changer(at: At) -> Visit:
        def visit(stream: Tensor) -> Tensor:
            begin = passed[at]
            end = begin + stream.shape[1]
            passed[at] = end
            changed = stream.clone()
            for row, change in rows_at[at]:
                here = np.array(change.places) + offsets[row]
                which = np.flatnonzero((begin <= here) & (here < end))
                if len(which):
                    places = here[which] - begin
                    changed[row, places] = _applied(
                        change.intervention, which, changed[row, places]
                    )
            return changed

        return visit

    sites = sites_of(model, rows_at)
    with visiting((sites[at], changer(at)) for at in rows_at):
        yield
    missed = [at for at, tokens in passed.items() if not tokens]
    if missed:
        layer, place = min(missed)
        raise GdeError(
            f"{type(model).__name__}: an intervention was not made: no forward pass went through layer {layer}, {place}"
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
