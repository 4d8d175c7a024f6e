"""The ordinary probes read the events of a reasoning as positions, by one word."""

import re
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from gde import Choice, GdeError, Plan, evaluate, load_evidence, probe
from gde.data.completion import ModelInfo
from gde.data.json import Json
from gde.data.probe import ProbeReport
from gde.data.trajectory import Trajectory
from gde.request.catalogue import Catalogue
from gde.request.settings import build
from gde.stages.models import Models
from gde.store.activations import ActivationStore
from gde.store.folder import RunFolder
from gde.testing import check_probe
from gde.testing.context import PlainContext
from gde_plugins.language_models.config import NanoConfig
from gde_plugins.language_models.plugin import make_nano
from gde_plugins.probes.config import CogmapConfig, DistanceConfig, PlanConfig
from gde_plugins.probes.course.config import EventsConfig
from gde_plugins.probes.course.events import EVENTS, FORMS, NOT_SAID, PREFIX
from gde_plugins.probes.course.sources import own
from gde_plugins.probes.course.turns import first_turns
from gde_plugins.probes.estimator import SklearnProbe
from gde_plugins.probes.maps.probe import CogmapProbe

pytest.importorskip("transformers", reason="needs the extra llm")
WORLDS = 20
LAYER = 3
ALL = tuple(PREFIX + event for event in EVENTS)
MODEL = ModelInfo(name="m", n_layers=6, width=4)


def reading(alias: str = "", **fields: Json) -> Choice:
    """The probe that is fitted fastest."""
    config: dict[str, Json] = {"layer": LAYER, "variants": ["linear"], **fields}
    return Choice(name="distance", config=config, alias=alias)


def plan(*probes: Choice) -> Plan:
    return Plan(
        environment=Choice(name="grid", config={"size": 5, "horizon": 1}),
        agent=Choice(name="gpt-oss"),
        probes=probes,
        metrics=("success",),
        episodes=WORLDS,
        learning=False,
        initialisations=1,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("positions") / "run"
    evaluate(plan(reading(positions="course")), folder)
    return folder


def reports(folder: Path, name: str = "distance") -> dict[str, ProbeReport]:
    """The probe itself, by position."""
    return {
        one.fit.position: one
        for one in load_evidence(folder).probe_reports
        if (one.fit.probe, one.fit.control) == (name, "none")
    }


def test_one_word_stands_for_all_events_of_every_probe() -> None:
    for kind in (CogmapConfig, DistanceConfig, PlanConfig):
        config = build(kind, {"positions": "course"}, "probe")
        assert config.capture(MODEL).positions == ALL
        both = build(kind, {"positions": ["pre", "course-goal"]}, "probe")
        assert both.capture(MODEL).positions == ("pre", "course-goal")
        assert both.course.marks is not None
        assert kind().course.marks is None


def test_other_words_have_positions_of_their_own() -> None:
    def read(**events: str) -> tuple[str, ...]:
        return CogmapConfig(positions=("course-goal",), events=events).course.read

    (name,) = read(goal="at (.)")
    assert name.startswith("course-goal-")
    # The text before `after` is what is searched, so its pattern counts for all.
    assert len({*read(), name, *read(goal="in (.)"), *read(after="So:")}) == 4
    assert read(goal=FORMS["goal"]) == ("course-goal",)


def test_what_is_no_event_is_refused() -> None:
    with pytest.raises(GdeError, match=r"positions: wanted 'pre', .* got 'curse'"):
        build(CogmapConfig, {"positions": "curse"}, "cogmap")
    with pytest.raises(GdeError, match="positions: at least one and each once"):
        build(CogmapConfig, {"positions": ["course", "course-goal"]}, "cogmap")
    with pytest.raises(GdeError, match=r"events: only agent, .* after, got 'before'"):
        build(CogmapConfig, {"events": {"before": "x"}}, "cogmap")
    with pytest.raises(GdeError, match=r"events.goal: '\(' is no regular expression"):
        build(CogmapConfig, {"events": {"goal": "("}}, "cogmap")


def test_each_event_has_a_probe_at_its_own_token(folder: Path) -> None:
    found = reports(folder)
    assert tuple(found) == ALL
    assert all(not one.reason for one in found.values())
    # Short ways have no last step, and count out.
    whole = found["course-before"]
    last = found["course-last"]
    assert last.n_train + last.n_test < whole.n_train + whole.n_test


def test_activations_are_those_of_the_events(folder: Path) -> None:
    evidence = load_evidence(folder)
    run = RunFolder.open(folder)
    with closing(run.journal()) as journal:
        store = ActivationStore(run.activations, journal)
        tables = {each: store.table("model", LAYER, each) for each in ALL}
    model = make_nano(NanoConfig(), PlainContext())
    turns = [*first_turns(evidence.trajectories, EventsConfig().patterns, model)]
    streams = own(model, turns, LAYER)
    for event in EVENTS:
        table = tables[PREFIX + event]
        assert table is not None
        by_episode = {
            row[0]: values
            for row, values in zip(table.rows, table.values[:], strict=True)
        }
        for turn, values in zip(turns, streams[event], strict=True):
            stored = by_episode.get(str(turn.trajectory.key))
            if stored is None:
                assert event not in turn.found.tokens
            else:
                np.testing.assert_allclose(stored, values, rtol=1e-4, atol=1e-4)


def test_what_is_read_already_takes_no_model(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(self: Models, name: str) -> None:
        raise AssertionError(f"{name} is made")

    monkeypatch.setattr(Models, "white_box", none)
    before = reports(folder)
    probe(folder, [])
    after = reports(folder)
    assert {key: one.n_test for key, one in before.items()} == {
        key: one.n_test for key, one in after.items()
    }


def test_words_that_nobody_says_are_told_and_can_be_set_right(
    folder: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    wrong = reading("wrong", positions="course-goal", events={"goal": "Z (.)"})
    evaluate(replace(plan(wrong), metrics=()), run)
    (told,) = reports(run, "wrong").values()
    assert told.reason == (
        f"no position {told.fit.position!r} in {WORLDS} of {WORLDS} turns: {NOT_SAID} ({WORLDS})"
    )
    probe(run, [reading("right", positions="course-goal")])
    (right,) = reports(run, "right").values()
    whole = reports(folder)["course-goal"]
    assert (right.n_train, right.n_test) == (whole.n_train, whole.n_test)
    assert [one.value for one in right.measurements] == pytest.approx(
        [one.value for one in whole.measurements], rel=1e-5
    )


def test_served_words_are_found_in_local_tokens(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    """Every reasoning is "I see.", in characters."""
    read = reading(
        weights="walker", positions="course", events={"agent": "(I) see"}, layer=0
    )
    agent = Choice(name="gpt-oss", config={"model": "served-walker"})
    run = tmp_path / "run"
    evaluate(replace(plan(read), agent=agent), run, catalogue)
    found = {
        one.fit.position.split("-")[1]: one.reason
        for one in load_evidence(run, catalogue).probe_reports
        if one.fit.control == "untrained"
    }
    assert NOT_SAID in found["goal"]
    assert "no position" not in found["agent"] + found["before"] + found["after"]


def test_a_probe_of_events_keeps_every_promise() -> None:
    config = CogmapConfig(positions=("course",), size=9)
    check_probe(lambda: CogmapProbe(config))


SAID = re.compile(r"path \d+,\d+ (\d+),")
ROWS = ("1", "2", "3", "4", "5")


def row_said(trajectory: Trajectory) -> list[str | None]:
    """The row of the first step of the path that the reasoning of each turn says."""
    found = []
    for turn in trajectory.turns:
        completion = turn.decision.completion
        said = SAID.search((completion.reasoning or "") if completion else "")
        found.append(said[1] if said else None)
    return found


def test_an_estimator_of_ones_own_reads_an_event_with_labels_of_it(
    folder: Path,
) -> None:
    read = SklearnProbe(
        LogisticRegression(C=1000.0, max_iter=2000),
        row_said,
        classes=ROWS,
        layers=[LAYER],
        positions=["course-move"],
        # Another pattern for the same token, so that nothing is stored of it yet.
        events={"move": r"\bpath \S+ (\d+,\d+)"},
    )
    probe(folder, [Choice.of(read, "row")])
    ((position, report),) = reports(folder, "row").items()
    assert position.startswith("course-move-")
    (right,) = (one for one in report.measurements if one.name.endswith("right"))
    assert right.value is not None
    assert right.n >= 5


def test_an_estimator_refuses_an_event_that_is_none() -> None:
    with pytest.raises(GdeError, match="SklearnProbe: events: only agent, goal"):
        SklearnProbe(Ridge(), lambda _: [], events={"gaol": "x"})
    with pytest.raises(GdeError, match="no regular expression"):
        SklearnProbe(Ridge(), lambda _: [], events={"goal": "("})
