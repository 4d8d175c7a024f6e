"""The course of beliefs as a study: what reasoning does to map and action, beside the two
moments of Arghal et al. (2026), sections 5.1 and 5.3.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gde.data.estimate import Estimate
from gde.data.figure import Figure
from gde.data.json import Json, Labels
from gde.data.plan import Choice, Plan
from gde.data.result import Measurement
from gde.numerics.episodes import unmeasured
from gde.parts.reproduction import Comparison, Run, scaled
from gde_plugins.probes.course.config import (
    CourseCausesConfig,
    CourseConfig,
    CourseStudyConfig,
)
from gde_plugins.probes.course.events import EVENTS
from gde_plugins.probes.course.figure import course_figure
from gde_plugins.probes.course.sources import FOREIGN, MODEL, RANDOM, TEXT

MOVES = ("UP", "DOWN", "LEFT", "RIGHT")
N_CHANGES = 9
"""Changes of a token: patching with three controls, steering and ablation with theirs."""
WORLDS = 200
SIZE = 7
DENSITY = 0.5
READ = {
    "agent": "agent found",
    "goal": "goal found",
    "optimal": "an optimal move found",
    "action": "the move taken found",
}
SOURCES = (MODEL, RANDOM, TEXT, FOREIGN)
OWN = "this study"
PUBLISHED = (
    ("cell accuracy, MLP", ("maps", "accuracy"), "mlp", (0.75, 0.60), "fig. 8"),
    ("next action", ("plan", "prefix.1"), "oneshot", (0.4031, 0.5392), "fig. 9"),
)
"""Title, metric or probe and its number, variant, the printed values before and after the
reasoning, and where they are printed.
"""
ENDS = {"pre": "before", "post": "after"}
DIFFERS = "one size, and far fewer training worlds"


@dataclass(frozen=True)
class CourseStudy:
    """First turns of 200 grids of 7x7, read at six events; and all turns of as many grids,
    read before and after the reasoning in the published form.
    """

    config: CourseStudyConfig = field(default_factory=CourseStudyConfig)

    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:
        """A plan for the course, and one for the published form."""
        grids: dict[str, Json] = {"size": SIZE, "density": DENSITY}
        form: dict[str, Json] = {**self.config.patterns}
        course = Plan(
            environment=Choice(name="grid", config={**grids, "horizon": 1}),
            agent=agent,
            metrics=(
                "accuracy",
                Choice(name="events", config=form),
                Choice(name="course", config=form),
                Choice(name="course-causes", config=form),
            ),
            episodes=scaled(WORLDS, scale),
        )
        maps: dict[str, Json] = {
            "size": SIZE,
            "variants": ["mlp"],
            "turns": "all",
            "whiten": False,
            "epochs": 30,
        }
        published = replace(
            course,
            environment=Choice(name="grid", config=grids),
            probes=(
                Choice(name="cogmap", config=maps),
                Choice(name="plan", config={"turns": "first"}),
            ),
            metrics=("maps",),
            # The published numbers have no controls; one initialisation stands beside.
            initialisations=1,
            learning=False,
        )
        return {"course": course, "published": published}

    def estimate(self, plans: Mapping[str, Plan]) -> Sequence[Estimate]:
        """The forward passes that no model call counts, of a plan's size."""
        course, causes = CourseConfig(), CourseCausesConfig()
        worlds = plans["course"].episodes
        reads = worlds * (2 + course.initialisations)
        turns = min(worlds, causes.pairs)
        changed = turns * len(EVENTS) * len(causes.layers) * len(MOVES) * N_CHANGES
        note = (
            f"{reads:,} forward passes to read {worlds} turns with {course.initialisations} random"
            f" initialisations, at most {changed:,} to change tokens of {turns}"
        )
        return [
            Estimate(
                plan="",
                part="activations",
                episodes=worlds,
                calls=0,
                prompt_tokens=0,
                answer_tokens=0,
                seconds=0.0,
                cost=0.0,
                note=note,
            )
        ]

    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:
        """Stated changes, events, what is read at them, and the published numbers."""
        numbers = runs["course"].result.measurements
        return [
            *_change_rows(numbers),
            *_event_rows(numbers),
            *_read_rows(numbers),
            *_used_rows(numbers),
            *_published_rows(runs["published"].result.measurements),
        ]

    def figures(self, runs: Mapping[str, Run]) -> Sequence[Figure]:
        """The curves of model, text and random weights over the events."""
        drawn = course_figure(runs["course"].result.measurements)
        return [] if drawn is None else [drawn]


def _change_rows(numbers: Sequence[Measurement]) -> Iterator[Comparison]:
    """What each stated change is, and what remains of it beyond each control."""
    table = "Stated changes, before to after the reasoning"
    changes = dict.fromkeys(
        str(one.where["change"]) for one in numbers if "change" in one.where
    )
    for change in changes:
        where = {"change": change}
        yield Comparison(
            quantity=change,
            paper=None,
            ours=_find(numbers, "course.change.within", where),
            source=OWN,
            table=table,
            others={
                "beyond random": _find(numbers, "course.change.beyond", where),
                "beyond text": _find(numbers, "course.change.text", where),
                "beyond foreign prompt": _find(
                    numbers, "course.change.foreign_prompt", where
                ),
                "p": _find(numbers, "course.p", where),
                "shown": _find(numbers, "course.holds", where),
            },
        )
    yield Comparison(
        quantity="reorganises: map falls and action rises",
        paper=None,
        ours=_find(numbers, "course.reorganises", {}),
        source=OWN,
        table=table,
    )


def _event_rows(numbers: Sequence[Measurement]) -> Iterator[Comparison]:
    for event in EVENTS:
        missing = {
            str(one.where["why"]): one
            for one in numbers
            if one.name == "events.missing" and one.where["event"] == event
        }
        yield Comparison(
            quantity=event,
            paper=None,
            ours=_find(numbers, "events.found", {"event": event}),
            source=OWN,
            table="Turns with each event",
            others=missing,
        )


def _read_rows(numbers: Sequence[Measurement]) -> Iterator[Comparison]:
    """A table for each thing: sources by events."""
    for thing, title in READ.items():
        for source in SOURCES:
            for event in EVENTS:
                where = {"thing": thing, "event": event, "source": source}
                yield Comparison(
                    quantity=f"{source}, {event}",
                    paper=None,
                    ours=_find(numbers, "course.found", where),
                    source=OWN,
                    table=f"By event: {title}",
                    column=event,
                )


def _used_rows(numbers: Sequence[Measurement]) -> Iterator[Comparison]:
    """Where the move taken is read, beside where changing a token moves it."""
    table = "Read where, used where: the move taken, by event"
    for event in EVENTS:
        where: Labels = {"thing": "action", "event": event, "source": MODEL}
        yield Comparison(
            quantity=f"read, {event}",
            paper=None,
            ours=_find(numbers, "course.found", where),
            source=OWN,
            table=table,
            column=event,
        )
    moved = [one for one in numbers if one.name == "course-causes.moved"]
    for one in moved:
        if one.where.get("control") != "none":
            continue
        place = {key: each for key, each in one.where.items() if key != "control"}
        controls = {
            str(each.where["control"]): each
            for each in moved
            if each is not one and {**each.where, **place} == each.where
        }
        yield Comparison(
            quantity=f"{one.where['change']} at layer {one.where['layer']}, {one.where['event']}",
            paper=None,
            ours=one,
            source=OWN,
            table=table,
            column=str(one.where["event"]),
            others=controls,
        )


def _published_rows(numbers: Sequence[Measurement]) -> Iterator[Comparison]:
    for title, (part, number), variant, printed, source in PUBLISHED:
        # Numbers of metrics name a fit, those of probes its control.
        key = "fit" if part == "maps" else "control"
        name = f"{part}.{number}"
        for (position, words), paper in zip(ENDS.items(), printed, strict=True):
            where: Labels = {"variant": variant, "position": position}
            own = _find(numbers, name, {**where, key: "none"})
            control = _find(numbers, name, {**where, key: "untrained"})
            yield Comparison(
                quantity=f"{title}, {words} reasoning",
                paper=paper,
                ours=own,
                source=f"Arghal et al. (2026), {source}",
                table="The published comparison: two moments, no control",
                differs=DIFFERS,
                others={RANDOM: control},
            )


def _find(numbers: Sequence[Measurement], name: str, where: Labels) -> Measurement:
    """The number with these labels, whatever the layer."""
    for one in numbers:
        labels = {key: each for key, each in one.where.items() if key != "layer"}
        if one.name == name and labels == where:
            return one
    return unmeasured(name, "not in the run", where)
