"""Titles and units of the course's numbers."""

from functools import partial

from gde.data.measure import Measure

Counted = partial(Measure, group="Events of the reasoning", question="believes")
EVENTS = (
    Counted("events.found", "Turns with the event: {event}", "share"),
    Counted("events.true", "Said as it is: {event}", "share"),
    Counted("events.repeated", "Turns that say it again: {event}", "count"),
    Counted("events.missing", "Turns without it: {event}, {why}", "count"),
)
Read = partial(Measure, group="Course of beliefs", question="believes")
COURSE = (
    Read(
        "course.reorganises", "Map falls and action rises (1) or not shown (0)", "count"
    ),
    Read("course.holds", "Shown (1) or not (0): {change}", "count"),
    Read("course.p", "p value: {change}", "probability"),
    Read("course.change.within", "Change: {change}", "share"),
    Read("course.change.beyond", "Change beyond random weights: {change}", "share"),
    Read(
        "course.change.text", "Beyond the text at the second event: {change}", "share"
    ),
    Read(
        "course.change.foreign_prompt",
        "Beyond a foreign prompt at the second event: {change}",
        "share",
    ),
    Read("course.lead", "Found beyond {source}: {thing}, at {event}", "share"),
    Read("course.found", "Found: {thing}, at {event}, {source}", "share"),
)
CAUSES = (
    Read("course-causes.unchanged", "Own answer is the likeliest, unchanged", "share"),
    Read(
        "course-causes.moved",
        "Answers moved by {change}, {control}: at {event}, layer {layer}, text {text}",
        "share",
    ),
    Read(
        "course-causes.rewritten",
        "Answers written otherwise by {change}, {control}: at {event}, layer {layer}",
        "share",
    ),
)
