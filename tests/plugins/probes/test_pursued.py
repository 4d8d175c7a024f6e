"""Of two things that a model holds alike, the one that it goes to is pursued."""

from collections.abc import Sequence

import numpy as np
import pytest

from gde import Choice, Plan, evaluate, load_evidence
from gde.data.cell_map import CellMap
from gde.data.json import Json, Labels
from gde.data.result import Measurement, Result
from gde.numerics.episodes import unmeasured
from gde.request.catalogue import Catalogue
from gde.request.settings import build
from gde.validating import Text
from gde_plugins.probes.causes.counterfactuals import counterfactual_of
from gde_plugins.probes.causes.pursued import NAME, pursued
from gde_plugins.probes.config import CausesConfig
from gde_plugins.probes.course.config import CourseConfig

THINGS = ("goal", "distractor")


@pytest.fixture(scope="module", params=THINGS)
def sought(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    catalogue: Catalogue,
) -> tuple[str, Result]:
    """What is sought, and a run of the model that does."""
    seeks = str(request.param)
    probed: dict[str, Json] = {
        "size": 7,
        "variants": ["bilinear"],
        "layer": [1],
        "positions": ["pre"],
        "turns": "all",
        "epochs": 3,
    }
    things = {"things": [*THINGS], "cases": 16, "doses": [1.0]}
    grids = {"size": 7, "density": 0.8, "horizon": 3}
    grids |= {"perturbation": "distractor", "perturbation_turn": 1}
    plan = Plan(
        environment=Choice(name="grid", config=grids),
        agent=Choice(name="gpt-oss", config={"model": f"{seeks}-seeker"}),
        probes=(Choice(name="cogmap", config=probed),),
        metrics=(Choice(name="causes", config=things),),
        episodes=50,
        initialisations=1,
        learning=False,
    )
    folder = tmp_path_factory.mktemp("sought") / "run"
    return seeks, evaluate(plan, folder, catalogue)


def test_what_is_sought_is_pursued_and_what_is_seen_beside_is_not(
    sought: tuple[str, Result],
) -> None:
    seeks, result = sought
    assert result.status == "ok", result.failures
    found = {
        (one.where["thing"], one.where["by"]): one.value
        for one in result.measurements
        if one.name == f"causes.{NAME}"
    }
    assert found == {
        (thing, by): float(thing == seeks)
        for thing in THINGS
        for by in ("prompt", "activations")
    }


def test_a_distractor_is_moved_alone(
    sought: tuple[str, Result], catalogue: Catalogue
) -> None:
    _, result = sought
    rng = np.random.default_rng(0)
    n_moved = 0
    for one in load_evidence(result.run, catalogue).trajectories:
        for turn in one.turns:
            assert turn.state is not None
            moved = counterfactual_of(one, turn, "distractor", rng)
            if "C" not in turn.observation.text:
                assert moved is None
            if moved is None:
                continue
            n_moved += 1
            shown = CellMap.from_record(one.world, turn.state)
            assert moved.here == shown.place_of("distractor") != moved.there
            toward = turn.state.facts["toward_distractor"]
            assert isinstance(toward, list | tuple)
            assert not moved.best & {*(turn.optimal or ()), *toward}
            changed = [
                (a, b)
                for a, b in zip(turn.observation.text, moved.text, strict=True)
                if a != b
            ]
            assert sorted(changed) == [("C", "_"), ("_", "C")]
    assert n_moved > 20


def change(
    name: str, p: float | None, effect: float = 0.5, excess: float = 0.3, n: int = 9
) -> list[Measurement]:
    """What a change does, as it is measured."""
    where: Labels = {"change": name, "layer": 1}
    interval = (excess - 0.2, excess + 0.2)
    return [
        Measurement(name="effect", value=effect, n=n, where=where),
        Measurement(name="p", value=p, n=n, where=where, reason="" if p else "why"),
        Measurement(name="excess", value=excess, interval=interval, n=n, where=where),
    ]


def verdicts(found: Sequence[Measurement], n_things: int) -> list[float | None]:
    """Of the prompt and of the activations."""
    several = [*pursued("goal", found, n_things)]
    assert [one.where for one in several] == [
        {"thing": "goal", "by": by} for by in ("prompt", "activations")
    ]
    return [one.value for one in several]


PROMPT = change("prompt with another goal", 0.001)


@pytest.mark.parametrize(
    ("found", "n_things", "value"),
    [
        (change("patching goal", 0.02), 1, 1),
        (change("patching goal", 0.02), 2, 1),
        # Of three things that are tested, one in seven runs would have such a p value.
        (change("patching goal", 0.02), 3, 0),
        # So would it with as many kinds of changes.
        (
            change("patching goal", 0.02)
            + change("steering goal", 0.9)
            + change("steering goal by means", 0.9),
            1,
            0,
        ),
        (change("steering goal", 0.001, excess=0.1), 1, 0),
        (change("steering goal", 0.001, effect=-0.5), 1, 0),
        (change("patching goal", None), 1, 0),
        # An ablation takes away, and tells nothing of where the way leads.
        (change("patching goal", 0.9) + change("ablation goal", 0.001), 1, 0),
    ],
)
def test_the_verdict_needs_a_cause_after_the_correction(
    found: Sequence[Measurement], n_things: int, value: float
) -> None:
    assert verdicts([*found, *PROMPT], n_things) == [1, value]


def test_without_numbers_there_is_a_reason() -> None:
    nothing = [unmeasured("effect", "no turn", {"thing": "key"})]
    assert {one.reason for one in pursued("key", nothing, 1)} == {"no turn"}
    (one,) = (
        one
        for one in pursued("key", change("patching key", None, n=0) + PROMPT, 1)
        if one.where["by"] == "activations"
    )
    assert (one.value, one.reason) == (None, "why")


def test_things_and_other_texts_are_listed_on_a_command_line() -> None:
    for text, things in (('["goal", "key"]', ("goal", "key")), ("key", ("key",))):
        assert build(CausesConfig, {"things": Text(text)}, "causes").things == things
    stated = Text('["map falls", "goal falls"]')
    course = build(CourseConfig, {"changes": stated}, "course")
    assert course.changes == ("map falls", "goal falls")
