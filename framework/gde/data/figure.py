"""A figure as data, drawn by the report that shows it."""

from collections.abc import Mapping
from dataclasses import dataclass

from gde.data.json import Json


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure to draw."""

    title: str
    caption: str
    """The contents of the figure, the source of its numbers, and the meaning of its
    symbols.
    """
    spec: Mapping[str, Json]
    """A Vega-Lite specification with its data in it, e.g. of
    `altair.Chart.to_dict()`.
    """
