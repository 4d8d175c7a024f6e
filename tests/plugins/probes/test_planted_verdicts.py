"""Verdicts of real probes on activations whose content is known, through the stage that
fits them and the tests that follow.

A fact is planted either in the model alone, as training would, or in every random
initialisation too, as an architecture would that keeps its prompt. The first must be
called better than random weights, the second must not.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from gde import Choice, Plan, evaluate, load_evidence
from gde.data.activations import ActivationRecord, CaptureRequest
from gde.data.cell_map import position
from gde.data.measure import Measure, Measures
from gde.data.observation import World
from gde.data.probe import CONTROLS, Control, Fit
from gde.data.trajectory import Trajectory, Turn
from gde.data.verdict import Verdict
from gde.numerics.controls import compare_with_control
from gde.parts.probe import Probe
from gde.seeding import generator
from gde.stages import learning
from gde.stages.controls import EXCHANGES
from gde.stages.fits import MODEL, list_fits, untrained_sources
from gde.stages.probe_data import ProbeData
from gde.stages.probing import ProbeStage
from gde.stages.verdicts import results
from gde.store.activations import ActivationStore
from gde.store.folder import RunFolder
from gde.store.journal import Journal
from gde.testing.episodes import Move, episode_of
from gde_plugins.probes import measures
from gde_plugins.probes.config import CogmapConfig, DistanceConfig, PlanConfig
from gde_plugins.probes.distance.probe import DistanceProbe
from gde_plugins.probes.maps.probe import CogmapProbe
from gde_plugins.probes.plans.probe import PlanProbe

SIDE, WIDTH, NOISE = 7, 48, 0.05
LAYER, POSITION = 1, "pre"
INITIALISATIONS = 5
DRAWS: Mapping[Control, int] = {"shuffled": EXCHANGES, "untrained": INITIALISATIONS}
WITHOUT_PROMPT = [control for control in CONTROLS if control != "prompt"]
"""The planted turns have no prompts."""
AHEAD = 3
"""Future actions that are planted."""
Facts = Callable[[Trajectory, Turn], Sequence[float]]
Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Activations of every turn: its facts in directions of the source's own, beside
    noise.
    """

    facts: Facts
    strengths: Mapping[str, float]
    """Source to the size of the facts in its activations; 0 where it is not named."""
    seed: int = 0

    def of(self, source: str, turns: Sequence[tuple[Trajectory, Turn]]) -> Floats:
        """(N, WIDTH)."""
        rng = generator(self.seed, "planted", source)
        known = np.array([self.facts(*each) for each in turns], dtype=np.float64)
        basis = np.linalg.qr(rng.normal(size=(WIDTH, WIDTH)))[0]
        planted = known @ basis[: known.shape[1]]
        noise = rng.normal(scale=NOISE, size=planted.shape)
        found: Floats = self.strengths.get(source, 0.0) * planted + noise
        return found


@dataclass
class Probed:
    """The verdicts of one probe."""

    name: str
    trajectories: Sequence[Trajectory]
    folder: Path
    verdicts: dict[tuple[str, Control], Verdict] = field(default_factory=dict)

    def store(self, sources: Sources) -> None:
        turns = [(one, turn) for one in self.trajectories for turn in one.turns]
        names = (MODEL, *untrained_sources(INITIALISATIONS))
        with closing(Journal.create(self.folder / "run.sqlite")) as journal:
            for one in self.trajectories:
                asyncio.run(
                    journal.begin(one.key, one.seed, one.world, {}, one.horizon)
                )
            store = ActivationStore(self.folder / "activations", journal)
            for source in names:
                streams = sources.of(source, turns).astype(np.float32)
                records = [
                    (
                        (str(one.key), turn.index),
                        ActivationRecord(values={(LAYER, POSITION): stream[None]}),
                    )
                    for (one, turn), stream in zip(turns, streams, strict=True)
                ]
                store.write(source, records)

    def fit(self, case: "Case", controls: Sequence[Control]) -> None:
        """Fit the probe and these controls, and test them."""
        meanings = (*learning.MEASURES, *case.meanings)
        known = Measures(tuple(each.under(self.name) for each in meanings))
        stage = ProbeStage(
            data=ProbeData(
                trajectories=self.trajectories, folder=RunFolder(self.folder), seed=0
            ),
            conditions=({},),
            initialisations=lambda _: INITIALISATIONS,
            learning=case.learning,
            meanings=known,
        )
        request = CaptureRequest(layers=(LAYER,), positions=(POSITION,))
        wanted: list[Fit] = []
        for fit in list_fits(self.name, case.probe, request, sweeps=True):
            if fit.control in ("none", *controls):
                wanted.append(fit)
        fits = stage.fit((case.probe, fit) for fit in wanted)
        reports = [one.report for one in fits]
        for report in reports:
            assert not report.reason, report.reason
        for one in results(reports, known, seed=0):
            if one.verdict is not None:
                control: Control = one.where["control"]  # type: ignore[assignment]
                headline = one.name.removeprefix(f"{self.name}.")
                self.verdicts[headline, control] = one.verdict

    def outcome(self, headline: str, control: Control) -> str:
        return self.verdicts[headline, control].outcome


def places(one: Trajectory, turn: Turn) -> Sequence[float]:
    """Rows and columns of agent and goal, each as one-hot."""
    assert turn.state is not None
    agent = position(turn.state.facts, "agent")
    goal = position(one.world.facts, "goal")
    return [*np.eye(SIDE)[[*agent, *goal]].ravel()]


def steps(one: Trajectory, turn: Turn) -> Sequence[float]:
    assert turn.value is not None
    return [turn.value / 5]


def actions_ahead(one: Trajectory, turn: Turn) -> Sequence[float]:
    """The next actions, each as one-hot."""
    actions = turn.observation.actions
    assert actions is not None
    planted = np.zeros((AHEAD, len(actions)))
    ahead = one.turns[turn.index : turn.index + AHEAD]
    for place, later in enumerate(ahead):
        assert later.decision.action is not None
        planted[place, actions.index(later.decision.action)] = 1
    return [*planted.ravel()]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A probe with the fact that it decodes."""

    probe: Probe
    facts: Facts
    meanings: Sequence[Measure]
    headlines: Sequence[str]
    learning: bool = False
    strength: float = 1.0
    """At which reading errs: of numbers that are the same in all worlds there is no
    test.
    """


CASES = {
    "cogmap": Case(
        probe=CogmapProbe(CogmapConfig(size=SIDE)),
        facts=places,
        meanings=measures.MAP,
        headlines=("top1.agent", "top1.goal", "early.top1.agent", "early.top1.goal"),
        learning=True,
        strength=0.24,
    ),
    "distance": Case(
        probe=DistanceProbe(DistanceConfig(variants=("linear",))),
        facts=steps,
        meanings=measures.DISTANCE,
        headlines=("mae", "r2"),
    ),
    "plan": Case(
        probe=PlanProbe(
            PlanConfig(
                horizon=4, width=16, depth=1, heads=2, epochs=10, learning_rate=1e-2
            )
        ),
        facts=actions_ahead,
        meanings=measures.PLAN,
        headlines=("prefix.1",),
    ),
}
LEARNED = {MODEL: 1.0}
"""The fact is in the model alone."""
KEPT = dict.fromkeys((MODEL, *untrained_sources(INITIALISATIONS)), 1.0)
"""The fact is in any random initialisation too."""


@pytest.fixture(scope="module")
def walks(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Trajectory]:
    """Episodes of an optimal agent in 60 grids."""
    plan = Plan(
        environment=Choice(name="grid", config={"size": SIDE, "density": 0.6}),
        agent=Choice(name="optimal"),
        metrics=(Choice(name="success"),),
        episodes=60,
    )
    folder = tmp_path_factory.mktemp("walks") / "run"
    evaluate(plan, folder)
    return tuple(load_evidence(folder).trajectories)


def probed(
    name: str,
    strengths: Mapping[str, float],
    walks: Sequence[Trajectory],
    folder: Path,
    controls: Sequence[Control] = WITHOUT_PROMPT,
) -> Probed:
    case = CASES[name]
    found = Probed(name=name, trajectories=walks, folder=folder)
    planted = {source: case.strength * size for source, size in strengths.items()}
    found.store(Sources(facts=case.facts, strengths=planted))
    found.fit(case, controls)
    return found


EACH = ["cogmap", "distance", pytest.param("plan", marks=pytest.mark.extended)]


@pytest.mark.parametrize("name", EACH)
def test_what_learned_weights_alone_hold_is_better_than_every_control(
    name: str, walks: Sequence[Trajectory], tmp_path: Path
) -> None:
    found = probed(name, LEARNED, walks, tmp_path)
    for headline in CASES[name].headlines:
        for control in ("none", *WITHOUT_PROMPT):
            assert found.outcome(headline, control) == "better", (headline, control)
        for control, draws in DRAWS.items():
            verdict = found.verdicts[headline, control]
            assert (verdict.draws, verdict.outside) == (draws, True)


@pytest.mark.parametrize("name", EACH)
def test_what_any_random_net_holds_is_not_better_than_random_weights(
    name: str, walks: Sequence[Trajectory], tmp_path: Path
) -> None:
    found = probed(name, KEPT, walks, tmp_path)
    for headline in CASES[name].headlines:
        assert found.outcome(headline, "untrained") == "none", headline
        # The probe itself says so, because this is its strongest control.
        assert found.verdicts[headline, "none"].control == "untrained"
        assert found.outcome(headline, "none") == "none"
        # It does find the fact: against the other controls it is better.
        for control in ("no_activations", "shuffled"):
            assert found.outcome(headline, control) == "better", (headline, control)


@pytest.mark.parametrize("name", ["cogmap", "distance"])
def test_what_random_nets_alone_hold_is_worse(
    name: str, walks: Sequence[Trajectory], tmp_path: Path
) -> None:
    """Training has removed it."""
    lost = {source: size for source, size in KEPT.items() if source != MODEL}
    found = probed(name, lost, walks, tmp_path, ("untrained",))
    for headline in CASES[name].headlines:
        assert found.outcome(headline, "untrained") == "worse", headline


def test_what_no_net_holds_shows_no_difference(
    walks: Sequence[Trajectory], tmp_path: Path
) -> None:
    """Nor do the walls, which are in no activations of any case."""
    found = probed("cogmap", {}, walks, tmp_path, ("shuffled", "untrained"))
    for headline in (*CASES["cogmap"].headlines, "code.wall"):
        for control in ("none", *DRAWS):
            verdict = found.verdicts[headline, control]
            # Nothing may be found in any world, by any fit.
            equal = verdict.outcome == "untested" and verdict.difference == 0
            assert equal or verdict.outcome == "none", (headline, control)


@pytest.mark.parametrize("control", DRAWS)
def test_what_is_found_in_all_worlds_is_told_from_draws_that_find_it_in_none(
    control: Control,
) -> None:
    ours, theirs = np.ones(12), np.zeros((DRAWS[control], 12))
    verdict = compare_with_control(control, ours, theirs, generator(0))
    assert verdict.outside
    assert verdict.p is not None and verdict.p < 0.05


FAR = (4, 16)
"""Mean number of steps in each of two conditions, e.g. sizes."""


def swept_walks() -> Sequence[Trajectory]:
    """Two turns in each world of two conditions, which set the mean distance."""
    rng = np.random.default_rng(0)
    made = []
    for condition, mean in enumerate(FAR):
        for index in range(15):
            moves = []
            for _ in range(2):
                steps = mean + int(rng.integers(-3, 4))
                text = f"{condition} {index}"
                moves.append(Move(action="UP", value=-float(steps), text=text))
            world = World(id=f"w{condition}-{index}")
            episode = episode_of(moves, world=world, index=index, condition=condition)
            made.append(episode)
    return made


def condition(one: Trajectory, turn: Turn) -> Sequence[float]:
    """The mean number of steps of the condition."""
    return [FAR[one.key.condition] / 5]


@pytest.mark.parametrize(
    ("facts", "expected"), [(condition, "none"), (steps, "better")]
)
def test_only_what_is_held_within_conditions_is_better_than_them(
    facts: Facts, expected: str, tmp_path: Path
) -> None:
    found = Probed(name="distance", trajectories=swept_walks(), folder=tmp_path)
    found.store(Sources(facts=facts, strengths=LEARNED))
    case = CASES["distance"]
    found.fit(case, WITHOUT_PROMPT)
    for headline in case.headlines:
        assert found.outcome(headline, "conditions") == expected
        # A probe is as good as its strongest control says.
        assert found.outcome(headline, "none") == expected
        # The other controls do not tell the two apart.
        for control in ("no_activations", "shuffled", "untrained"):
            assert found.outcome(headline, control) == "better"


WORLDS = 60
WEAK = 0.05
"""Size of a fact that is hard to read, so that scores differ with it."""


def walks_of(seed: int) -> Sequence[Trajectory]:
    """Two turns in each world, with distances at random."""
    rng = np.random.default_rng(seed)
    made = []
    for index in range(WORLDS):
        moves = [
            Move(action="UP", value=-float(rng.integers(1, 15)), text=f"{index}")
            for _ in range(2)
        ]
        made.append(episode_of(moves, world=World(id=f"w{index}"), index=index))
    return made


def false_share(spread: float, runs: int, folder: Path) -> float:
    """The share of runs in which any headline is called better or worse, though the
    model is one more random net.

    Args:
        spread: standard deviation between nets of the logarithm of the size in which
            they hold the fact.
        runs: simulated runs.
        folder: for their files.
    """
    called = 0
    rng = np.random.default_rng(1)
    for seed in range(runs):
        strengths = {source: WEAK * np.exp(rng.normal(scale=spread)) for source in KEPT}
        here = folder / str(seed)
        here.mkdir()
        found = Probed(name="distance", trajectories=walks_of(seed), folder=here)
        found.store(Sources(facts=steps, strengths=strengths, seed=seed))
        case = CASES["distance"]
        found.fit(case, ("untrained",))
        outcomes = {found.outcome(each, "untrained") for each in case.headlines}
        called += outcomes != {"none"}
    return called / runs


def test_a_random_net_is_seldom_told_from_random_nets(tmp_path: Path) -> None:
    assert false_share(1.0, 5, tmp_path) <= 0.05


@pytest.mark.extended
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_at_most_one_verdict_in_twenty_on_random_nets_is_false(
    spread: float, tmp_path: Path
) -> None:
    """The share stays below 5 % and two standard errors of 300 runs."""
    assert false_share(spread, 300, tmp_path) <= 0.05 + 0.025
