"""The figure of a course: events on the axis, a panel for each thing that is read."""

from collections.abc import Mapping, Sequence
from typing import Any

from gde.data.figure import Figure
from gde.data.result import Measurement
from gde.reporting.drawing import BLUE
from gde_plugins.probes.course.events import EVENTS
from gde_plugins.probes.course.sources import FOREIGN, MODEL, RANDOM, TEXT

TITLES: Mapping[str, str] = {
    "agent": "the agent's cell",
    "goal": "the goal's cell",
    "action": "the move taken",
}
KINDS = ("patch", "steer", "ablate")
COLOURS = {MODEL: BLUE, TEXT: "#b26f00", FOREIGN: "#8e44ad"}
GREY = "#8a929a"


def course_figure(numbers: Sequence[Measurement]) -> Figure | None:
    """Draw what is found at each event; None where nothing is."""
    lines: list[dict[str, Any]] = []
    bands: dict[tuple[str, str], dict[str, Any]] = {}
    for one in numbers:
        thing, event = str(one.where.get("thing")), str(one.where.get("event"))
        if one.name != "course.found" or one.value is None or thing not in TITLES:
            continue
        at = {"thing": TITLES[thing], "event": event}
        name = str(one.where["source"])
        if name in COLOURS:
            lines.append({**at, "source": name, "found": one.value})
        else:
            band = bands.setdefault((thing, event), at)
            band[name.removeprefix(RANDOM).strip(", ") or "mean"] = one.value
    if not lines:
        return None

    x = {
        "field": "event",
        "type": "ordinal",
        "sort": [*EVENTS],
        "title": None,
        "axis": {"labelAngle": -45},
    }
    y = {"field": "found", "type": "quantitative", "title": "found in held-out worlds"}
    scale = {"domain": [0, 1]}
    used = _used(numbers)
    source = {"field": "source", "type": "nominal", "title": None}
    colours = {"domain": [*COLOURS], "range": [*COLOURS.values()]}
    dashes = {"domain": [*COLOURS], "range": [[1, 0], [6, 3], [2, 2]]}
    read: dict[str, Any] = {
        "data": {"values": [*bands.values(), *lines]},
        "facet": {
            "field": "thing",
            "type": "nominal",
            "title": None,
            "sort": [*TITLES.values()],
        },
        "spec": {
            "width": 190,
            "height": 200,
            "layer": [
                {
                    "transform": [{"filter": "isValid(datum.least)"}],
                    "mark": {"type": "area", "color": GREY, "opacity": 0.3},
                    "encoding": {
                        "x": x,
                        "y": {**y, "field": "least", "scale": scale},
                        "y2": {"field": "greatest"},
                    },
                },
                {
                    "transform": [{"filter": "isValid(datum.found)"}],
                    "mark": {"type": "line", "point": True},
                    "encoding": {
                        "x": x,
                        "y": {**y, "scale": scale},
                        "color": {**source, "scale": colours},
                        "strokeDash": {**source, "scale": dashes},
                    },
                },
            ],
        },
    }
    effect: dict[str, Any] = {
        "data": {"values": used},
        "facet": {
            "field": "change",
            "type": "nominal",
            "title": None,
            "sort": [*KINDS],
        },
        "spec": {
            "width": 190,
            "height": 120,
            "mark": {"type": "line", "point": True},
            "encoding": {
                "x": x,
                "y": {**y, "title": "answers moved", "scale": scale},
                "detail": {"field": "layer", "type": "ordinal"},
                "opacity": {
                    "field": "layer",
                    "type": "ordinal",
                    "title": "changed layer",
                },
            },
        },
    }
    return Figure(
        title="Course of beliefs",
        caption="Share of held-out worlds in which a reader of its own finds each thing at each event. Grey: all"
        " random initialisations, at the same tokens. Text: readers of the cells named by then. Foreign prompt: the"
        " model's activations at the same text, after another world's prompt. Below: share of answers moved by changing"
        " the token of the event, with the text fixed.",
        spec={"vconcat": [read, effect] if used else [read]},
    )


def _used(numbers: Sequence[Measurement]) -> list[dict[str, Any]]:
    """What the tested changes do with the text fixed, by event and layer."""
    return [
        {
            "change": one.where["change"],
            "event": one.where["event"],
            "layer": one.where["layer"],
            "found": one.value,
        }
        for one in numbers
        if one.name == "course-causes.moved"
        and one.value is not None
        and (one.where["control"], one.where["text"]) == ("none", "fixed")
    ]
