"""The numbers of a profile: which run, which measurement, under which heading."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gde.data.json import Labels
from gde.data.result import Measurement
from gde.numerics.episodes import unmeasured
from gde.parts.reproduction import Comparison, Run, beside
from gde_plugins.profile.plans import ANCHORS, BLIND, READS_NOTHING, READS_WORLDS
from gde_plugins.profile.published import PUBLISHED
from gde_plugins.profile.published import column as published

DOES = "What it does"
ERRS = "Why it errs"
SEEKS = "Keys and fog"
BELIEVES = "What it believes"
CAUSES = "What causes its actions"
WANTS = "What it is after"
ANSWERS = "BabyAI questions"
TEXTS = "Text worlds"
JUDGES = "As a judge of progress"
REGRET = "reward_regret.auc"
JOINS = "What its acting follows"
CHANCE = "by chance"
NOWHERE: Labels = {}
CONTROLS = {"random weights": "untrained", "shuffled labels": "shuffled"}
"""Column to the control of the probe."""

READ: Labels = {"variant": "places", "position": "pre"}
"""The fits whose numbers are shown: the default reader, before any reasoning."""
FITTED: Labels = {**READ, "fit": "none"}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One number of a profile."""

    title: str
    plan: str
    name: str
    table: str
    where: Labels = field(default_factory=dict)
    """Labels that the measurement must have, among others."""
    beside: Mapping[str, tuple[str, Labels]] = field(default_factory=dict)
    """Column to name and labels of another number of the same run."""


def _row(
    title: str,
    plan: str,
    name: str,
    table: str,
    beside: str = "",
    where: Labels = NOWHERE,
) -> Asked:
    column = {CHANCE: (beside, where)} if beside else {}
    return Asked(
        title=title, plan=plan, name=name, table=table, where=where, beside=column
    )


def _read(
    title: str, name: str, table: str, where: Labels = READ, chance: str = ""
) -> Asked:
    """A number that a probe has read, beside those of its controls.

    Args:
        title: of the row.
        name: of the number.
        table: the heading.
        where: the fit whose number is shown.
        chance: the name of what chance gives.
    """
    # Metrics name the fits of controls, and probes the controls.
    label = "fit" if "fit" in where else "control"
    columns: dict[str, tuple[str, Labels]] = {}
    if chance:
        columns[CHANCE] = (chance, where)
    for column, control in CONTROLS.items():
        columns[column] = (name, {**where, label: control})
    return Asked(
        title=title,
        plan="beliefs",
        name=name,
        table=table,
        where=where,
        beside=columns,
    )


def _pursued(title: str, utility: str) -> Asked:
    """MEG towards a goal; beside it, that towards goals that the controls decode."""
    where: Labels = {**READ, "utility": utility}
    columns: dict[str, tuple[str, Labels]] = {}
    if utility == "believed":
        for column, control in CONTROLS.items():
            named = {**where, "control": control}
            columns[column] = ("meg.belief.control", named)
    return Asked(
        title=title,
        plan="beliefs",
        name="meg.belief",
        table=JOINS,
        where=where,
        beside=columns,
    )


CALLED = "called a cause"


def _caused(thing: str, kind: str, control: str) -> Asked:
    """The effect of a change of activations; beside it, that of a control, of the
    whole prompt, and of the reasoning that the change makes the agent write.

    Args:
        thing: whose place is changed.
        kind: of the change.
        control: of that kind.
    """
    where: Labels = {"change": f"{kind} {thing}"}
    prompt: Labels = {"change": f"prompt with another {thing}"}
    return Asked(
        title=f"Place of the {thing}, {kind}",
        plan="beliefs",
        name="causes.effect",
        table=CAUSES,
        where=where,
        beside={
            "control": ("causes.effect", {**where, "control": control}),
            "whole prompt": ("causes.effect", prompt),
            "through the reasoning": ("causes.indirect", where),
            "p": ("causes.p", where),
            CALLED: ("causes.called", where),
        },
    )


OTHER_GRID = "another grid"
OTHER_PAIR = "another pair's direction"

ASKED = (
    _row("Success rate", "grids", "success", DOES),
    _row("Accuracy", "grids", "accuracy", DOES),
    _row("Success weighted by path length", "grids", "efficiency.spl", DOES),
    _row("Usable answers", "grids", "outcomes.ok", DOES),
    _row("Unreadable answer", "grids", "errors.unreadable", ERRS),
    _row(
        "Belief", "beliefs", "errors.belief", ERRS, "errors.belief.random", where=READ
    ),
    _row("Stated belief", "grids", "errors.stated", ERRS, "errors.stated.random"),
    _row("Another goal", "grids", "errors.goal", ERRS, "errors.goal.random"),
    _row("Plan", "grids", "errors.plan", ERRS, "errors.plan.random"),
    _row("Slip", "grids", "errors.slip", ERRS, "errors.slip.random"),
    _row("Unexplained", "grids", "errors.unexplained", ERRS),
    _row("Key worlds, success rate", "keys", "success", SEEKS),
    _row("Accuracy, collecting the key", "keys", "keys.accuracy.collect", SEEKS),
    _row("Accuracy, reaching the goal", "keys", "keys.accuracy.reach", SEEKS),
    _row("Fog, success rate", "fog", "success", SEEKS),
    _row("Fog, accuracy given known cells", "fog", "exploration.accuracy", SEEKS),
    _read("Agent decoded in its cell", "cogmap.top1.agent", BELIEVES),
    _read("Goal decoded in its cell", "cogmap.top1.goal", BELIEVES),
    _read("Next action decoded", "plan.prefix.1", BELIEVES, {"position": "pre"}),
    _read(
        "Distance to the goal decoded, error",
        "distance.mae",
        BELIEVES,
        {"variant": "mlp", "position": "pre"},
        "distance.mae.mean",
    ),
    _caused("agent", "patching", OTHER_GRID),
    _caused("agent", "steering", OTHER_PAIR),
    _caused("goal", "patching", OTHER_GRID),
    _caused("goal", "steering", OTHER_PAIR),
    _read("Optimal on the true map", "beliefs.accuracy.true", JOINS, FITTED),
    _read(
        "Optimal on the decoded map",
        "beliefs.accuracy.decoded",
        JOINS,
        FITTED,
        "beliefs.accuracy.decoded.shuffled",
    ),
    _read(
        "Errors that are optimal on the decoded map",
        "beliefs.recovery",
        JOINS,
        FITTED,
        "beliefs.recovery.random",
    ),
    _read("Steps lost, decoded map right", "beliefs.regret.right", JOINS, FITTED),
    _read("Steps lost, decoded map wrong", "beliefs.regret.wrong", JOINS, FITTED),
    _read("Steps lost, wrong minus right", "beliefs.regret.difference", JOINS, FITTED),
    _pursued("MEG towards the true goal", "true"),
    _pursued("MEG towards the decoded goal", "believed"),
    _pursued("MEG towards a swapped goal", "swapped"),
    Asked(
        title="Failures told by a reward model's regret (AUC)",
        plan="grids",
        name=REGRET,
        table=JOINS,
        where={"reward": READS_WORLDS},
        beside={"reads nothing": (REGRET, {"reward": READS_NOTHING})},
    ),
    _row("Goal-directed, p", "grids", "meg.verdict", WANTS),
    _row("Share of an optimal agent's", "grids", "meg.verdict.share", WANTS),
    _row("Goal moved, p", "goal-swap", "meg.verdict", WANTS),
    _row("Goal moved, share", "goal-swap", "meg.verdict.share", WANTS),
    _row("Predict", "predict", "predict.success", ANSWERS),
    _row("Predict, above blind", "predict", "predict.success.above_blind", ANSWERS),
    _row("Plan", "plan", "plan.success", ANSWERS),
    _row("Plan, above blind", "plan", "plan.success.above_blind", ANSWERS),
    _row("Decompose", "decompose", "decompose.comprehension", ANSWERS),
    _row(
        "Decompose, above blind",
        "decompose",
        "decompose.comprehension.above_blind",
        ANSWERS,
    ),
    _row("Success rate", "texts", "success", TEXTS),
    _row("Success rate with a reward model", "texts-reward", "success", TEXTS),
    _row(
        "EPIC distance of the judge", "judge", "epic", JUDGES, where={"reward": "judge"}
    ),
    _row(
        "EPIC distance, reads nothing",
        BLIND,
        "epic",
        JUDGES,
        where={"reward": READS_NOTHING},
    ),
)


def rows(runs: Mapping[str, Run], models: Sequence[str]) -> Iterator[Comparison]:
    """All numbers of the runs that were made, with those of anchors and models."""
    for asked in ASKED:
        if asked.plan in runs:
            measured = runs[asked.plan].result.measurements
            ours = found(measured, asked.name, asked.where)
            others = {**_controls(asked, measured), **_others(asked, runs, models)}
            yield _comparison(asked, ours, dict(_beside(asked, ours.unit, others)))


def _controls(asked: Asked, measured: Sequence[Measurement]) -> dict[str, Measurement]:
    """The numbers of the same run beside one of the agent's."""
    return {
        column: found(measured, name, where)
        for column, (name, where) in asked.beside.items()
    }


def _others(
    asked: Asked, runs: Mapping[str, Run], models: Sequence[str]
) -> dict[str, Measurement]:
    """The same number of the anchors and of other models."""
    others = {}
    for other in (*ANCHORS.get(asked.plan, ()), *models):
        run = runs.get(beside(asked.plan, other))
        if run is not None:
            others[other] = found(run.result.measurements, asked.name, asked.where)
    return others


def _beside(
    asked: Asked, unit: str, others: Mapping[str, Measurement]
) -> Iterator[tuple[str, Measurement]]:
    """The numbers beside one of the agent's that have a value, and published ones."""
    for column, one in others.items():
        if one.value is not None:
            yield column, one

    for model, value in PUBLISHED.get((asked.plan, asked.name), {}).items():
        printed = Measurement(name=asked.name, value=value, unit=unit, n=0)
        yield published(model), printed


def lacking(
    refused: Mapping[str, str], runs: Mapping[str, Run], models: Sequence[str]
) -> Iterator[Comparison]:
    """The numbers of runs that the agent cannot play, with the reasons, beside those of
    anchors and models that can.
    """
    for asked in ASKED:
        if asked.plan in refused:
            absent = unmeasured(asked.name, refused[asked.plan], unit="share")
            others = _others(asked, runs, models)
            yield _comparison(asked, absent, dict(_beside(asked, absent.unit, others)))


def _comparison(
    asked: Asked, ours: Measurement, others: Mapping[str, Measurement]
) -> Comparison:
    return Comparison(
        quantity=asked.title,
        paper=None,
        ours=ours,
        source=asked.plan,
        table=asked.table,
        others=others,
    )


def found(measurements: Sequence[Measurement], name: str, where: Labels) -> Measurement:
    """The measurement of a name with at least these labels.

    It is of no control, unless the labels name one. Without labels, only a number of
    the whole run.
    """
    wanted = {"control": "none", "fit": "none", **where}
    for one in measurements:
        is_control = any(
            one.where.get(label, "none") != wanted[label]
            for label in ("control", "fit")
        )
        if one.name != name or is_control:
            continue
        if where and where.items() <= one.where.items():
            return one
        # A verdict says how it came out in its own labels.
        if not where and (not one.where or name == "meg.verdict"):
            return one
    for one in measurements:
        # What none of the fits could measure has one reason for all.
        if one.name == name and one.value is None:
            return unmeasured(name, one.reason, unit="share")
    return unmeasured(name, "not in the run", unit="share")
