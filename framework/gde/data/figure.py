"""A figure as data, drawn by whoever shows it."""

from collections.abc import Mapping
from dataclasses import dataclass

from gde.data.json import Json


@dataclass(frozen=True, kw_only=True)
class Figure:
    """What is to be drawn."""

    title: str
    caption: str
    """What is seen, whose numbers they are, and what the marks mean."""
    spec: Mapping[str, Json]
    """A Vega-Lite specification with its data in it, e.g. of `altair.Chart.to_dict()`."""
