"""The modules of a model that the places of its layers are the inputs or outputs of.

They are found by what they hold, so that no architecture needs a table of its names.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from torch.nn import ModuleList

from gde.data.activations import EMBEDDING
from gde.data.place import ATTENTION, RESIDUAL, head_of
from gde.errors import GdeError

At = tuple[int, str]
"""A layer and one of its places."""
NAMES = ("att", "Att")
"""Parts of the names of attention blocks: self_attn, attention, SelfAttention."""


@dataclass(frozen=True)
class Site:
    """Where a forward pass shows the activations of a place."""

    module: Any
    enters: bool = False
    """Whether they are its input, not its output."""
    begin: int = 0
    end: int | None = None
    """Their part of the last axis; None for its end."""

    @property
    def span(self) -> slice:
        return slice(self.begin, self.end)


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


def sites_of(model: Any, places: Iterable[At]) -> dict[At, Site]:
    """Return where the activations of each place are.

    Raises:
        GdeError: the model has no such place, or it cannot be told from others.
    """
    layers = decoder_layers(model)
    return {at: _site_of(model, layers, at) for at in places}


def _site_of(model: Any, layers: Sequence[Any], at: At) -> Site:
    layer, place = at
    if layer == EMBEDDING:
        if place != RESIDUAL:
            raise GdeError(
                f"wanted the place {RESIDUAL} of the embeddings, got {place!r}"
            )
        return Site(layers[0], enters=True)
    if place == RESIDUAL:
        return Site(layers[layer])
    attention, mlp = _blocks(layers[layer])
    head = head_of(place)
    if head is None:
        return Site(attention if place == ATTENTION else mlp)

    n_heads = number_of_heads(model)
    if head >= n_heads:
        raise GdeError(f"wanted a head below {n_heads}, got {place!r}")
    # Attention ends with the projection, whose input has the heads side by side.
    *_, projection = filter(_is_matrix, attention.modules())
    # GPT-2's own kind of linear layer has its weights the other way round.
    joined = getattr(projection, "in_features", None) or len(projection.weight)
    width = joined // n_heads
    return Site(projection, enters=True, begin=head * width, end=(head + 1) * width)


def number_of_heads(model: Any) -> int:
    """Return the number of heads that ask, of every layer."""
    return int(model.config.get_text_config().num_attention_heads)


def _blocks(layer: Any) -> tuple[Any, Any]:
    """Return attention and MLP: the two parts of a layer that hold matrices."""
    holding: dict[str, Any] = {}
    for name, part in layer.named_children():
        if any(weights.ndim > 1 for weights in part.parameters()):
            holding[name] = part
    attention: list[Any] = []
    others: list[Any] = []
    for name, part in holding.items():
        # TransformerLens keeps the layer that it wraps beside the blocks of it.
        if not any(each in holding.values() for each in [*part.modules()][1:]):
            is_attention = any(each in name for each in NAMES)
            (attention if is_attention else others).append(part)
    if len(attention) != 1 or len(others) != 1:
        raise GdeError(
            f"{type(layer).__name__}: wanted one attention block and one MLP, found {len(attention)} and {len(others)}"
        )
    return attention[0], others[0]


def _is_matrix(module: Any) -> bool:
    return getattr(getattr(module, "weight", None), "ndim", 0) > 1
