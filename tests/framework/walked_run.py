"""A run that never happened: a noisy walker in random grids, and a probe that is right
most of the time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray

from gde.data.cell_map import KINDS, CellMap, Position, decoded_classes
from gde.data.completion import Completion
from gde.data.evidence import Evidence
from gde.data.json import Json, Labels
from gde.data.measure import Measure, Measures
from gde.data.model_use import ModelUse, Usage
from gde.data.observation import Observation, State, World
from gde.data.plan import Choice, Plan
from gde.data.probe import CodedTurns, Control, Fit, ProbeReport
from gde.data.result import Failure, Measurement, Result, Subject
from gde.data.trajectory import Decision, EpisodeKey, Trajectory, Turn
from gde.parts.metric import Declared, Metric
from gde.request.catalogue import Catalogue
from gde.stages import learning
from gde.stages.scoring import score
from gde.stages.verdicts import results
from gde_plugins.behaviour.outcomes import outcomes
from gde_plugins.behaviour.performance import accuracy, length, success

MAIN = Fit(probe="cogmap", variant="places", layer=3, position="pre")
CONTROLS: Mapping[Control, tuple[float, int]] = {
    "no_activations": (4.6, 1),
    "conditions": (4.1, 1),
    "shuffled": (3.6, 5),
    "untrained": (3.1, 19),
}
"""How far each control of the probe is off, and its draws: the strongest is random
weights.
"""
MOVES = {"UP": (-1, 0), "DOWN": (1, 0), "LEFT": (0, -1), "RIGHT": (0, 1)}
CLASSES = decoded_classes(KINDS)
CONDITIONS: tuple[Labels, ...] = ({"size": 7}, {"size": 9})
NOTICE = "The agent's model is nano, a small model of the same architecture class; it is not GPT-OSS-20B."
REASONING = "The goal lies below and to the right. A wall blocks the way down, so the path goes right first. "


ASKED = ModelUse(
    name="nano",
    model="nano",
    kind="agent",
    part="gpt-oss",
    days=("2026-11-23", "2026-11-23"),
    usage=Usage(calls=180, prompt_tokens=20_000, answer_tokens=4_000, seconds=12.0),
)


def plan() -> Plan:
    probe = Choice(name="cogmap")
    return Plan(
        environment=Choice(name="grid"),
        agent=Choice(name="gpt-oss"),
        probes=(probe,),
        episodes=12,
        seed=7,
    )


def world(size: int, index: int) -> World:
    """Pillars on every second cell: connected whatever is drawn."""
    rng = np.random.default_rng([size, index])
    rows = [
        ["_" if 0 < r < size - 1 and 0 < c < size - 1 else "#" for c in range(size)]
        for r in range(size)
    ]
    for r in range(2, size - 1, 2):
        for c in range(2, size - 1, 2):
            rows[r][c] = "#"
            if rng.random() < 0.5 and c + 2 < size - 1:
                rows[r][c + 1] = "#"
    goal = [int(rng.choice([1, size - 2])), int(rng.choice(np.arange(1, size - 1, 2)))]
    facts: dict[str, Json] = {
        "rows": ["".join(row) for row in rows],
        "goal": goal,
        "moves": MOVES,
    }
    return World(id=f"{size}-{index}", facts=facts, labels={"size": size})


def distances(rows: Sequence[str], goal: Position) -> dict[Position, int]:
    found, edge = {goal: 0}, [goal]
    for place in edge:
        for down, right in MOVES.values():
            near = place[0] + down, place[1] + right
            if rows[near[0]][near[1]] == "_" and near not in found:
                found[near] = found[place] + 1
                edge.append(near)
    return found


def walk(condition: int, index: int) -> Trajectory:
    size = int(CONDITIONS[condition]["size"])
    place, rng = world(size, index), np.random.default_rng([1, size, index])
    rows, goal = [str(row) for row in place.facts["rows"]], tuple(place.facts["goal"])  # type: ignore[union-attr,arg-type]
    steps = distances(rows, goal)  # type: ignore[arg-type]
    agent = max(steps, key=lambda cell: steps[cell])
    horizon, turns = int(np.ceil(1.5 * steps[agent])), list[Turn]()
    while len(turns) < horizon and agent != goal:
        after = {
            name: (agent[0] + down, agent[1] + right)
            for name, (down, right) in MOVES.items()
        }
        after = {name: cell if cell in steps else agent for name, cell in after.items()}
        optimal = tuple(
            name for name, cell in after.items() if steps[cell] < steps[agent]
        )
        action = str(
            rng.choice(
                list(MOVES) if rng.random() < 0.3 + 0.1 * condition else list(optimal)
            )
        )
        completion = Completion(
            text=f'{{"action": "{action}"}}', reasoning=REASONING * 3, finish="stop"
        )
        mute = rng.random() < 0.04
        decision = (
            Decision.unusable("unparsable", "wanted JSON, got 'hm'")
            if mute
            else Decision.act(action, completion)
        )
        state, here = State(facts={"agent": list(agent)}), agent
        agent = agent if mute else after[action]
        turns.append(
            Turn(
                index=len(turns),
                observation=Observation(text="a grid"),
                decision=decision,
                reward=float(agent == goal),
                terminated=agent == goal,
                success=float(agent == goal),
                truncated=False,
                state=state,
                optimal=optimal,
                value=-float(steps[here]),
            )
        )
    key = EpisodeKey(condition=condition, world=index)
    ending = "terminated" if agent == goal else "horizon"
    return Trajectory(
        key=key,
        seed=index,
        world=place,
        labels=place.labels,
        horizon=horizon,
        turns=tuple(turns),
        ending=ending,  # type: ignore[arg-type]
    )


def believed(
    trajectory: Trajectory, turn: Turn, rng: np.random.Generator
) -> NDArray[np.float32]:
    """(9, 9, 5) class probabilities: the truth behind noise."""
    assert turn.state is not None
    cells = CellMap.from_record(trajectory.world, turn.state).padded(9)
    logits = 2.2 * np.eye(len(CLASSES))[cells] + rng.normal(
        scale=0.7, size=(9, 9, len(CLASSES))
    )
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    return np.asarray(probabilities, dtype=np.float32)


def decoded_numbers(
    off: float, n: int, where: Labels | None = None
) -> tuple[Measurement, ...]:
    values = {
        "recall.pad": ("share", 0.99),
        "precision.agent": ("share", 0.111),
        "accuracy": ("share", 0.777),
        "accuracy.interior": ("share", 0.9 - off / 10),
        "top1.agent": ("share", 0.8 / (1 + off)),
        "top1.goal": ("share", 0.7 / (1 + off)),
        "distance.agent": ("cells", off),
        "distance.goal": ("cells", off * 1.4),
        "recall.empty": ("share", 0.8),
        "recall.agent": ("share", 0.7 / (1 + off)),
        "recall.goal": ("share", 0.75 / (1 + off)),
        "recall.wall": ("share", 0.66),
    }
    return tuple(
        Measurement(
            name=name,
            value=value,
            unit=unit,
            n=n,
            interval=(0.9 * value, 1.1 * value),
            where=where or {},
        )
        for name, (unit, value) in values.items()
    )


def learned_numbers(off: float, n: int) -> tuple[Measurement, ...]:
    """Of all worlds alone, as a probe learns."""
    values = {
        "early.top1.agent": ("share", 0.6 / (1 + off)),
        "early.top1.goal": ("share", 0.5 / (1 + off)),
        "code.wall": ("bits", 0.3 + off / 10),
    }
    shown = Measurement(name="early.worlds", value=8.0, unit="count", n=1)
    found = [
        Measurement(
            name=name,
            value=value,
            unit=unit,
            n=n,
            interval=(0.9 * value, 1.1 * value),
        )
        for name, (unit, value) in values.items()
    ]
    return (*found, shown)


def scores(
    numbers: Sequence[Measurement], names: tuple[str, ...], n: int, draws: int
) -> dict[str, NDArray[np.float32]]:
    """(draws, n) scores of the turns around each number."""
    rng = np.random.default_rng(8)
    spread = rng.normal(scale=0.05, size=(draws, n))
    spread += rng.normal(scale=0.05, size=(draws, 1))
    spread -= spread.mean()
    found = {}
    for one in numbers:
        if one.name.startswith(names):
            assert one.value is not None
            # More spread about a larger number, so that differences vary too.
            found[one.name] = (one.value * (1 + spread)).astype(np.float32)
    return found


def turns_of(
    trajectories: Sequence[Trajectory],
) -> tuple[tuple[tuple[str, int], ...], tuple[str, ...]]:
    """The row of each turn, and its world."""
    turns = [(one, turn) for one in trajectories for turn in one.turns]
    rows = tuple((str(one.key), turn.index) for one, turn in turns)
    return rows, tuple(one.world.cluster for one, _ in turns)


def reports(trajectories: Sequence[Trajectory]) -> tuple[ProbeReport, ...]:
    finished = [one for one in trajectories if one.ending != "failed"]
    held_out = [one for one in finished if one.key.world % 3 == 0]
    trained = [one for one in finished if one.key.world % 3]
    rng = np.random.default_rng(5)
    rows, worlds = turns_of(held_out)
    coded_rows, coded_worlds = turns_of(trained)
    decoded = np.stack(
        [believed(one, turn, rng) for one in held_out for turn in one.turns]
    )

    def report(fit: Fit, off: float, draws: int = 1) -> ProbeReport:
        numbers = decoded_numbers(off, len(rows)) + learned_numbers(off, len(rows))
        of_code = scores(numbers, ("code.",), len(coded_rows), draws)
        return ProbeReport(
            fit=fit,
            measurements=numbers,
            n_train=len(coded_rows),
            n_test=len(rows),
            rows=rows,
            decoded=decoded,
            classes=CLASSES,
            worlds=worlds,
            scores=scores(numbers, ("top1.", "early.top1."), len(rows), draws),
            coded=CodedTurns(rows=coded_rows, worlds=coded_worlds, scores=of_code),
        )

    main = report(MAIN, 0.62)
    by_size = tuple(
        number for labels in CONDITIONS for number in decoded_numbers(0.5, 20, labels)
    )
    return (
        replace(main, measurements=(*main.measurements, *by_size)),
        report(replace(MAIN, variant="linear"), 1.4),
        report(replace(MAIN, position="post"), 1.1),
        *(
            report(replace(MAIN, control=control), off, draws)
            for control, (off, draws) in CONTROLS.items()
        ),
    )


@pytest.fixture(scope="session")
def evidence() -> Evidence:
    trajectories = tuple(
        walk(condition, index) for condition in range(2) for index in range(12)
    )
    failed = replace(
        trajectories[4], turns=(), ending="failed", failure="the model server went away"
    )
    trajectories = (*trajectories[:4], failed, *trajectories[5:])
    return Evidence(
        trajectories=trajectories, probe_reports=reports(trajectories), seed=7
    )


def _given(metric: Metric) -> Metric:
    return metric


@pytest.fixture(scope="session")
def result(evidence: Evidence) -> Result:
    found: dict[str, Metric] = {
        "success": success,
        "accuracy": accuracy,
        "outcomes": outcomes,
        "length": length,
    }
    declared = Measures(measures())
    metrics = [
        (name, partial(_given, Declared(metric, declared)))
        for name, metric in found.items()
    ]
    measurements, failures = score(metrics, evidence, CONDITIONS)
    decoded = results(evidence.probe_reports, declared, seed=7)
    measurements = (*measurements, *decoded)
    lost = Failure(
        stage="rollout", subject="0/4/0", reason="the model server went away"
    )
    provenance: dict[str, Json] = {
        "notice": NOTICE,
        "model": {"name": "nano", "weights": "9f2c"},
        "packages": {"numpy": "2.4.6"},
        "parts": {"grid": "grid:grid v1"},
        "python": "3.11.7",
    }
    return Result(
        run="runs/example",
        status="partial",
        plan_hash="1f0e9a7c",
        measurements=measurements,
        failures=(*failures, lost),
        provenance=provenance,
        subject=subject(evidence),
        measures=measures(),
        models=(ASKED,),
    )


def subject(evidence: Evidence) -> Subject:
    """What a run counts, counted here."""
    finished = [one for one in evidence.trajectories if one.ending != "failed"]
    turns = [turn for one in finished for turn in one.turns]
    return Subject(
        agent="gpt-oss",
        environment="grid",
        model="nano",
        worlds=len({one.world.id for one in finished}),
        episodes=len(evidence.trajectories),
        failed=len(evidence.trajectories) - len(finished),
        turns=len(turns),
        unusable=sum(turn.decision.status != "ok" for turn in turns),
    )


def measures() -> tuple[Measure, ...]:
    """As the plugins declare them."""
    catalogue = Catalogue.default()
    names = ("success", "accuracy", "outcomes", "length", "pairs", "trends", "meg-to")
    offered = catalogue.find("probe", "cogmap").offer.measures
    probe = (one.under("cogmap") for one in (*learning.MEASURES, *offered))
    return (
        *probe,
        *(
            one
            for name in names
            for one in catalogue.find("metric", name).offer.measures
        ),
    )
