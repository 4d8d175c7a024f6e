"""A profile: every run that an agent can play, and a reason for the others."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gde import evaluate
from gde.before.preflight import Preflight
from gde.before.preparing import prepare
from gde.cli.main import build_app
from gde.data.evidence import Evidence
from gde.data.how import How
from gde.data.plan import Choice, Plan
from gde.data.result import Measurement
from gde.data.verdict import Verdict
from gde.errors import GdeError, RunFolderError
from gde.parts.reproduction import Comparison, ProfilesAgent, Run, beside
from gde.reporting.pages import write_page
from gde.request.catalogue import Catalogue
from gde.studies.reproducing import Request, foresee, reproduce
from gde.studies.study import Study, study_json
from gde.testing.samples import sample_result
from gde_plugins.probes.plans.probe import PlanProbe
from gde_plugins.profile.claim import claim
from gde_plugins.profile.config import ProfileConfig
from gde_plugins.profile.plans import ANCHORS, BLIND, READS_NOTHING
from gde_plugins.profile.published import PUBLISHED, column
from gde_plugins.profile.rows import ASKED, CALLED, CAUSES, ERRS, found
from gde_plugins.profile.study import Profile

SMALL = {"grids": 1, "worlds": 12, "keys": 6, "questions": 1, "pairs": 2, "texts": 1}
OF_MODELS = ("judge", BLIND, "texts-reward")
"""What only language models are asked."""
NOISY = Request(name="profile", settings=SMALL, agent=Choice(name="noisy"))


def measured(name: str, value: float, **where: str) -> Measurement:
    return Measurement(name=name, value=value, unit="share", n=9, where=where)


def test_it_is_a_profile_and_every_row_has_a_run() -> None:
    profile = Profile(ProfileConfig())
    assert isinstance(profile, ProfilesAgent)
    plans = profile.plans(1.0, Choice(name="gpt-oss"))
    assert {asked.plan for asked in ASKED} <= {*plans}
    for name, anchors in ANCHORS.items():
        for anchor in anchors:
            same = plans[beside(name, anchor)]
            assert same.environment == plans[name].environment
            assert same.episodes == plans[name].episodes


def test_every_number_is_one_that_its_run_has() -> None:
    """A name that nothing declares would never have a value."""
    catalogue = Catalogue.default()
    plans = Profile(ProfileConfig()).plans(1.0, Choice(name="gpt-oss"))
    for asked in ASKED:
        plan = plans[asked.plan]
        names: list[str] = []
        for choice in plan.metrics:
            measures = catalogue.find("metric", choice.name).offer.measures
            names += [one.name for one in measures]
        for choice in plan.probes:
            measures = catalogue.find("probe", choice.name).offer.measures
            names += [f"{choice.name}.{one.name}" for one in measures]
        assert any(fnmatchcase(asked.name, name) for name in names), asked


def test_every_fit_that_is_shown_is_made() -> None:
    """Metrics of the map read the fits of its probe."""
    plan = Profile(ProfileConfig()).plans(1.0, Choice(name="gpt-oss"))["beliefs"]
    variants = {"plan": PlanProbe.variants}
    for choice in plan.probes:
        offer = Catalogue.default().find("probe", choice.name).offer
        assert offer.config is not None
        if choice.name not in variants:
            variants[choice.name] = offer.config(**choice.config).variants
    shown = [asked for asked in ASKED if "variant" in asked.where]
    assert len(shown) > 10
    for asked in shown:
        prefix, _, _ = asked.name.partition(".")
        made = variants.get(prefix, variants["cogmap"])
        assert asked.where["variant"] in made, asked.title


def test_other_models_are_asked_by_the_same_agent_in_the_same_worlds() -> None:
    model = "openai:m@http://127.0.0.1:1/v1"
    agent = Choice(name="gpt-oss", config={"effort": "low"})
    plans = Profile(ProfileConfig(models=(model,))).plans(0.1, agent)
    for name in {asked.plan for asked in ASKED} - {BLIND}:
        other = plans[beside(name, model)]
        assert other.environment == plans[name].environment
        if name == "judge":
            assert other.rewards[0].config["model"] == model
        elif name.startswith("texts"):
            assert other.agent.config == {"model": model}
        else:
            assert other.agent.config == {"effort": "low", "model": model}

    result = replace(sample_result(), measurements=(measured("success", 0.25),))
    run = Run(result=result, evidence=Evidence(trajectories=()))
    found = Profile(ProfileConfig(models=(model,))).compare(
        {"grids": run, beside("grids", model): run}
    )
    assert found[0].others[model].value == 0.25


def test_published_models_stand_beside() -> None:
    result = replace(sample_result(), measurements=(measured("success", 0.25),))
    run = Run(result=result, evidence=Evidence(trajectories=()))
    rows = Profile(ProfileConfig()).compare({"keys": run})
    assert rows[0].others[column("gpt-oss-20b")].value == 1.0


def test_every_published_number_is_of_a_row() -> None:
    assert {*PUBLISHED} <= {(asked.plan, asked.name) for asked in ASKED}


@pytest.mark.extended
def test_models_after_the_first_stand_beside() -> None:
    asked = ["profile", "--model", "nano,hf:other", "--scale", "0.01", "--dry-run"]
    done = CliRunner().invoke(build_app(), [*asked, "--json"])
    plans = {each["plan"] for each in json.loads(done.output)["estimates"]}
    assert {"grids", "grids-hf-other", "judge-hf-other"} <= plans


def test_local_weights_of_a_served_model_are_read_by_every_probe() -> None:
    settings = ProfileConfig(weights="hf:served", models=("openai:other@http://x/v1",))
    plans = Profile(settings).plans(0.1, Choice(name="gpt-oss"))
    assert {one.config["weights"] for one in plans["beliefs"].probes} == {"hf:served"}
    other = plans[beside("beliefs", "openai:other@http://x/v1")]
    assert {"weights" in one.config for one in other.probes} == {False}

    refused = {"beliefs": "no activations; add --weights hf:PATH_OR_ID"}
    reasons = {row.ours.reason for row in Profile(settings).lacking(refused, {})}
    assert reasons == {"no activations; add --weights hf:PATH_OR_ID"}


def test_a_refused_run_has_its_reason_in_every_row() -> None:
    rows = Profile(ProfileConfig()).lacking({"beliefs": "no activations"}, {})
    assert {row.ours.reason for row in rows} == {"no activations"}
    assert len(rows) == sum(asked.plan == "beliefs" for asked in ASKED)


def test_numbers_of_controls_and_of_conditions_are_not_taken() -> None:
    several = [
        measured("success", 0.1, size="7"),
        measured("beliefs.accuracy.decoded", 0.2, fit="untrained", position="pre"),
        measured("beliefs.accuracy.decoded", 0.3, fit="none", position="pre"),
        measured("success", 0.4),
    ]
    assert found(several, "success", {}).value == 0.4
    decoded = found(several, "beliefs.accuracy.decoded", {"position": "pre"})
    assert decoded.value == 0.3
    assert found(several, "length", {}).reason == "not in the run"


def test_the_claim_names_the_cause_of_most_errors_beside_random_actions() -> None:
    def row(quantity: str, value: float, chance: float) -> Comparison:
        return Comparison(
            quantity=quantity,
            paper=None,
            ours=measured("errors.plan", value),
            source="grids",
            table=ERRS,
            others={"by chance": measured("errors.plan.random", chance)},
        )

    _, sentence = claim([row("Slip", 0.2, 0.1), row("Plan", 0.7, 0.3)])
    assert sentence == (
        "Of 9 actions that were not optimal, 70\u00a0% are attributed to: plan"
        " (random actions: 30\u00a0%)."
    )


def caused(change: str, effect: float, called: float) -> list[Measurement]:
    """The measurements of one causal test, as the metric `causes` gives them."""
    where = {"change": change, "control": "none"}
    another = "another grid" if "patching" in change else "another pair's direction"
    controlled = {**where, "control": another}
    verdict = replace(measured("causes.called", called, **where), unit="count")
    p_value = replace(measured("causes.p", 0.01, **where), unit="probability")
    return [
        measured("causes.effect", effect / 4, **controlled),
        measured("causes.effect", effect, **where),
        measured("causes.indirect", effect / 2, **where),
        p_value,
        verdict,
    ]


def test_decoded_places_stand_beside_controls_and_so_does_the_claim() -> None:
    place = {"variant": "places", "position": "pre"}
    verdict = Verdict(
        control="untrained",
        difference=0.4,
        interval=None,
        p=None,
        detectable=None,
        outcome="untested",
        worlds=5,
        draws=19,
        reason="5 worlds; a test needs 6",
    )
    none = replace(verdict, p=0.02, outcome="none", outside=False, reason="")
    better = replace(none, outcome="better", outside=True)
    goal = measured("cogmap.top1.goal", 0.5, **place, control="none")
    controls = (
        measured("cogmap.top1.goal", 0.1, **place, control="untrained"),
        measured("cogmap.top1.goal", 0.2, **place, control="shuffled"),
    )
    for tested, told in (
        (verdict, "not tested against random weights"),
        (better, "40\u00a0points better than random weights"),
        (replace(better, outcome="worse"), "worse than random weights"),
        (none, "not shown to differ from random weights"),
        (
            replace(better, control="no_activations", draws=1, outside=None),
            "40\u00a0points better than no activations",
        ),
    ):
        one = replace(goal, verdict=tested)
        result = replace(sample_result(), measurements=(one, *controls))
        run = Run(result=result, evidence=Evidence(trajectories=()))
        rows = Profile(ProfileConfig()).compare({"beliefs": run})
        (row,) = (each for each in rows if each.quantity == "Goal decoded in its cell")
        beside_it = {name: one.value for name, one in row.others.items()}
        assert beside_it == {"random weights": 0.1, "shuffled labels": 0.2}
        assert claim(rows)[0].endswith(f" of held-out turns, {told}.")


def row_of(title: str, measurements: Sequence[Measurement]) -> Comparison:
    result = replace(sample_result(), measurements=tuple(measurements))
    run = Run(result=result, evidence=Evidence(trajectories=()))
    rows = Profile(ProfileConfig()).compare({"beliefs": run})
    (row,) = (each for each in rows if each.quantity == title)
    return row


@pytest.mark.parametrize(
    ("title", "name", "control_of", "label"),
    [
        ("Goal decoded in its cell", "cogmap.top1.goal", "", "control"),
        ("Agent decoded in its cell", "cogmap.top1.agent", "", "control"),
        ("Next action decoded", "plan.prefix.1", "", "control"),
        ("Distance to the goal decoded, error", "distance.mae", "", "control"),
        ("Optimal on the true map", "beliefs.accuracy.true", "", "fit"),
        ("Optimal on the decoded map", "beliefs.accuracy.decoded", "", "fit"),
        ("Errors that are optimal on the decoded map", "beliefs.recovery", "", "fit"),
        ("Steps lost, wrong minus right", "beliefs.regret.difference", "", "fit"),
        (
            "MEG towards the decoded goal",
            "meg.belief",
            "meg.belief.control",
            "control",
        ),
    ],
)
def test_what_is_read_stands_beside_the_same_fit_of_each_control(
    title: str, name: str, control_of: str, label: str
) -> None:
    """Other fits, and another goal, come before it in the run."""
    values = {"none": 0.5, "untrained": 0.1, "shuffled": 0.2}
    utility = {"utility": "believed"} if control_of else {}
    # The only probe without a variant of that name is that of the distance.
    variant = "mlp" if name.startswith("distance.") else "places"
    place = {"variant": variant, "position": "pre", **utility}
    others = [{**place, "variant": "linear"}, {**place, "position": "post"}]
    if name.startswith("plan."):
        # It has one variant.
        others = others[1:]
    if control_of:
        others.append({**place, "utility": "true"})
    measurements = []
    for where in (*others, place):
        for control, value in values.items():
            named = control_of if control_of and control != "none" else name
            shown = value if where == place else 0.9
            measurements.append(measured(named, shown, **where, **{label: control}))

    row = row_of(title, measurements)
    assert row.ours.value == 0.5
    assert row.others["random weights"].value == 0.1
    assert row.others["shuffled labels"].value == 0.2


def test_what_chance_gives_stands_beside_what_is_read() -> None:
    for title, name, chance, variant in (
        (
            "Distance to the goal decoded, error",
            "distance.mae",
            "distance.mae.mean",
            "mlp",
        ),
        (
            "Optimal on the decoded map",
            "beliefs.accuracy.decoded",
            "beliefs.accuracy.decoded.shuffled",
            "places",
        ),
    ):
        place = {"variant": variant, "position": "pre", "fit": "none"}
        measurements = [measured(name, 0.5, **place), measured(chance, 0.3, **place)]
        assert row_of(title, measurements).others["by chance"].value == 0.3


def test_causal_tests_stand_beside_their_controls_and_in_the_claim() -> None:
    measurements = [
        *caused("patching agent", 0.4, 0),
        *caused("steering agent", 0.8, 1),
        *caused("patching goal", 0.2, 0),
        *caused("steering goal", 0.1, 0),
        measured("causes.effect", 0.9, change="prompt with another agent"),
        measured("cogmap.top1.goal", 0.5, variant="places", position="pre"),
    ]
    result = replace(sample_result(), measurements=tuple(measurements))
    run = Run(result=result, evidence=Evidence(trajectories=()))
    rows = Profile(ProfileConfig()).compare({"beliefs": run})
    by_name = {row.quantity: row for row in rows if row.table == CAUSES}
    assert len(by_name) == 4

    steered = by_name["Place of the agent, steering"]
    assert steered.ours.value == 0.8
    beside_it = {name: one.value for name, one in steered.others.items()}
    assert beside_it == {
        "control": 0.2,
        "whole prompt": 0.9,
        "through the reasoning": 0.4,
        "p": 0.01,
        CALLED: 1,
    }
    assert by_name["Place of the goal, patching"].others["control"].value == 0.05

    finding, sentence = claim(rows)
    assert finding == (
        "A probe of its activations finds the goal in 50\u00a0% of held-out turns."
    )
    assert sentence == (
        "Patching and steering show that the place of the agent causes its actions."
    )


def test_causal_tests_that_call_nothing_are_told_so() -> None:
    measurements = [
        *caused("patching agent", 0.4, 0),
        measured("cogmap.top1.goal", 0.5, variant="places", position="pre"),
    ]
    result = replace(sample_result(), measurements=tuple(measurements))
    run = Run(result=result, evidence=Evidence(trajectories=()))
    _, sentence = claim(Profile(ProfileConfig()).compare({"beliefs": run}))
    assert sentence == "Patching and steering show no cause of its actions."

    untested = [one for one in measurements if one.name != "causes.p"]
    run = replace(run, result=replace(result, measurements=tuple(untested)))
    _, sentence = claim(Profile(ProfileConfig()).compare({"beliefs": run}))
    assert sentence == "Patching and steering change too few actions to be tested."


def test_what_reads_nothing_stands_beside_a_judge_that_is_refused() -> None:
    blind = measured("epic", 0.7, reward=READS_NOTHING)
    result = replace(sample_result(), measurements=(blind,))
    run = Run(result=result, evidence=Evidence(trajectories=()))
    profile = Profile(ProfileConfig())
    plans = profile.plans(0.1, Choice(name="gpt-oss"))
    assert plans[BLIND].environment == plans["judge"].environment
    assert [one.name for one in plans[BLIND].rewards] == [READS_NOTHING]

    (baseline,) = profile.compare({BLIND: run})
    (refused,) = profile.lacking({"judge": "no language"}, {BLIND: run})
    assert baseline.table == refused.table
    assert baseline.ours.value == 0.7
    assert refused.ours.reason == "no language"


def test_a_small_judge_sees_whole_pairs_and_enough_for_an_interval(
    tmp_path: Path,
) -> None:
    plans = Profile(ProfileConfig()).plans(0.01, Choice(name="gpt-oss"))
    result = evaluate(plans[BLIND], tmp_path / "run")
    epic = found(result.measurements, "epic", {"reward": READS_NOTHING})
    assert epic.n == 6
    assert epic.interval is not None


def test_anchors_stand_beside_a_run_that_the_agent_cannot_play() -> None:
    result = replace(sample_result(), measurements=(measured("success", 0.75),))
    run = Run(result=result, evidence=Evidence(trajectories=()))
    played = {beside("texts", "expert"): run}
    (row,) = Profile(ProfileConfig()).lacking({"texts": "no language"}, played)
    assert row.ours.reason == "no language"
    assert {name: one.value for name, one in row.others.items()} == {"expert": 0.75}


@pytest.mark.extended
def test_a_dry_run_says_what_cannot_be_asked() -> None:
    notes = {each.plan: each.note for each in foresee(Request(name="profile"))}
    assert notes["judge"].startswith("judge.model: wanted a model")
    assert not notes["grids"]


def test_no_run_at_all_is_an_error(tmp_path: Path) -> None:
    nobody = Request(name="profile", agent=Choice(name="nobody"))
    with pytest.raises(GdeError, match="unknown agent 'nobody'"):
        reproduce(nobody, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_plans_with_the_settings_that_their_models_need_are_the_agents_own(
    tmp_path: Path,
) -> None:
    """A served model completes its plans when it is asked; this one is a script's."""

    def completed(
        plans: Mapping[str, Plan], catalogue: Catalogue, how: How
    ) -> dict[str, Preflight]:
        found = {}
        for name, plan in plans.items():
            ready = prepare(plan, catalogue, how)
            found[name] = Preflight(plan=ready.plan, how=ready.how)
        return found

    # Some of its plans can be run, so that the first thing refused is the folder.
    (tmp_path / "file").write_text("")
    with pytest.raises(GdeError, match="Not a directory"):
        reproduce(NOISY, tmp_path / "file" / "out", ask_first=completed)


@pytest.fixture(scope="module")
def noisy(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return reproduce(NOISY, tmp_path_factory.mktemp("profile") / "out")


@pytest.mark.extended
def test_a_scripted_agent_has_numbers_or_reasons_and_anchors(noisy: Study) -> None:
    by_name = {(row.source, row.quantity): row for row in noisy.rows}
    assert len(by_name) == len([each for each in ASKED if each.plan not in OF_MODELS])
    for row in noisy.rows:
        assert row.ours.value is not None or row.ours.reason
    success = by_name["grids", "Success rate"]
    assert success.others["optimal"].value == 1
    assert success.others["noisy"] == success.ours
    assert "activations" in by_name["beliefs", "Goal decoded in its cell"].ours.reason
    assert noisy.claim[0].startswith("reached the goal in ")


@pytest.mark.extended
def test_the_page_begins_with_the_claim_and_leads_to_every_run(noisy: Study) -> None:
    page, _ = write_page(noisy)
    assert page is not None
    text = page.read_text()
    assert text.index(f"noisy {noisy.claim[0]}") < text.index("What it does")
    assert 'href="grids-optimal/report.html"' in text
    assert json.loads(json.dumps(study_json(noisy)))["claim"] == [*noisy.claim]


@pytest.mark.extended
def test_naming_the_folder_again_runs_nothing_anew(noisy: Study) -> None:
    again = reproduce(NOISY, noisy.folder)
    assert again.rows == noisy.rows
    other = Request(name="profile", settings=SMALL, agent=Choice(name="optimal"))
    with pytest.raises(RunFolderError, match="run of another plan"):
        reproduce(other, noisy.folder)
