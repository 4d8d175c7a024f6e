"""Places of a decoder layer, where activations are read and changed.

`residual` is the stream at the layer's output, `attention` and `mlp` are what its two
blocks add to the stream, and `head:N` is what the attention head N, counted from 0,
gives to the projection that joins the heads.
"""

RESIDUAL, ATTENTION, MLP = "residual", "attention", "mlp"
HEAD = "head:"


def check_place(place: str) -> None:
    """Refuse what is no place of any layer.

    Raises:
        ValueError: it is none.
    """
    is_head = place.startswith(HEAD) and place.removeprefix(HEAD).isdecimal()
    if not is_head and place not in {RESIDUAL, ATTENTION, MLP}:
        raise ValueError(
            f"place: one of {RESIDUAL}, {ATTENTION}, {MLP} and {HEAD}N, got {place!r}"
        )


def head_of(place: str) -> int | None:
    """The number of the place's head; None if it is none."""
    return int(place.removeprefix(HEAD)) if place.startswith(HEAD) else None
