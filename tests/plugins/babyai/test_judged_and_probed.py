"""What reward models and probes, which know nothing of BabyAI, make of its episodes."""

from collections.abc import Mapping
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from gde import Choice, Plan, Result, evaluate, load_evidence
from gde.data.cell_map import CellMap
from gde.data.json import Json
from gde.request.catalogue import Catalogue, load_plugins

KINDS = {"agent", "wall", "door", "key", "ball", "box"}


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    """With the models of the test kit."""
    return Catalogue(load_plugins(modules=("gde.testing.plugin",)))


def numbers(result: Result, name: str) -> dict[str, float | None]:
    """A reward model's number, by what the run calls it."""
    return {
        str(one.where["reward"]): one.value
        for one in result.measurements
        if one.name == name
    }


def test_every_reward_model_judges_an_episode_or_says_why_not(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    judge = Choice(name="judge", config={"model": "planted", "repairs": 0})
    plan = Plan(
        environment=Choice(name="babyai", config={"level": "GoToLocal"}),
        agent=Choice(name="omnibot", config={"noise": 0.6}),
        rewards=("statefactory", judge, "oracle", "monotonic", "shuffled", "constant"),  # type: ignore[arg-type]
        metrics=("epic", "success"),  # type: ignore[arg-type]
        episodes=6,
    )
    result = evaluate(plan, tmp_path / "run", catalogue)
    # The kit's model gives no number, so that its judge has a reason in every episode.
    assert numbers(result, "epic.unjudged") == {
        **dict.fromkeys(
            ("statefactory", "oracle", "monotonic", "shuffled", "constant"), 0.0
        ),
        "judge": 1.0,
    }
    assert all("got 'RIGHT'" in one.reason for one in result.failures)
    found = numbers(result, "epic")
    assert found["oracle"] == 0
    assert found["constant"] == pytest.approx(0.5**0.5)
    assert found["statefactory"] is not None


def test_the_true_map_has_every_kind_where_the_record_has_it(tmp_path: Path) -> None:
    from gde_plugins.probes.config import CogmapConfig
    from gde_plugins.probes.maps.probe import CogmapProbe

    plan = Plan(
        environment=Choice(
            name="babyai",
            config={"level": "UnblockPickup", "horizon": 4, "search": 0, "seeds": [2]},
        ),
        agent=Choice(name="omnibot"),
        metrics=("success",),  # type: ignore[arg-type]
        episodes=1,
    )
    evaluate(plan, tmp_path / "run")
    (one,) = load_evidence(tmp_path / "run").trajectories
    labels = CogmapProbe(CogmapConfig(size=22)).labels(one)
    assert {*labels.classes} > KINDS
    for turn, cells in zip(one.turns, labels.values, strict=True):
        assert turn.state is not None
        drawn = CellMap.from_record(one.world, turn.state)
        assert ((cells == labels.classes.index("wall")) == drawn.where("wall")).all()
        for kind in KINDS - {"wall", "agent"}:
            places = {thing.place for thing in drawn.things if thing.kind == kind} - {
                drawn.place_of("agent")
            }
            assert {
                (int(row), int(column))
                for row, column in np.argwhere(cells == labels.classes.index(kind))
            } == places


@pytest.mark.slow
def test_the_map_that_a_model_holds_is_decoded_with_controls(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    config: Mapping[str, Json] = {
        "size": 5,
        "positions": "pre",
        "variants": ["places", "bilinear"],
    }
    probe = Choice(name="cogmap", config=config)
    plan = Plan(
        environment=Choice(
            name="babyai",
            config={"level": "PutNextLocalS5N3", "horizon": 1, "search": 0},
        ),
        agent=Choice(name="gpt-oss", config={"model": "planted"}),
        probes=(probe,),
        metrics=("success",),  # type: ignore[arg-type]
        episodes=30,
    )
    result = evaluate(plan, tmp_path / "run", catalogue)
    assert result.status == "ok", result.failures
    found = [one for one in result.measurements if one.name == "cogmap.distance.agent"]
    controls = ("none", "no_activations", "prompt", "shuffled", "untrained")
    assert {(one.where["variant"], one.where["control"]) for one in found} == {
        *product(("places", "bilinear"), controls)
    }
    assert all(one.value is not None for one in found)
