"""Of two things that are decodable alike, the one that the model uses is called a
cause, and the other is not.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from gde import Choice, How, Plan, evaluate, load_evidence, rescore
from gde.data.result import Measurement, Result
from gde.errors import GdeError
from gde.parts.context import Context
from gde.request.catalogue import Catalogue
from gde_plugins.probes.causes import trials
from gde_plugins.probes.causes.counterfactuals import Counterfactual
from gde_plugins.probes.causes.layers import Prompt
from gde_plugins.probes.causes.metric import Causes
from gde_plugins.probes.config import CausesConfig

Found = Sequence[Measurement]
PAGE = How(reporters=("html",))


@pytest.fixture(scope="module")
def tested(catalogue: Catalogue, tmp_path_factory: pytest.TempPathFactory) -> Result:
    probed = {
        "size": 7,
        "variants": ["bilinear"],
        "turns": "all",
        "layer": [0, 1],
        "positions": ["pre"],
    }
    plan = Plan(
        environment=Choice(name="grid", config={"size": 7, "density": 0.6}),
        agent=Choice(name="gpt-oss", config={"model": "walker"}),
        probes=(Choice(name="cogmap", config=probed),),
        metrics=(Choice(name="causes", config={"cases": 14, "doses": [0.25, 1.0]}),),
        episodes=36,
        initialisations=1,
        learning=False,
    )
    return evaluate(plan, tmp_path_factory.mktemp("caused") / "run", catalogue)


def small(model: str, weights: str) -> Plan:
    probed = {"size": 5, "variants": ["bilinear"], "layer": [1], "positions": ["pre"]}
    causes = {"things": ["agent"], "cases": 3, "doses": [1.0]}
    return Plan(
        environment=Choice(name="grid", config={"size": 5}),
        agent=Choice(name="gpt-oss", config={"model": model}),
        probes=(Choice(name="cogmap", config={**probed, "weights": weights}),),
        metrics=(Choice(name="causes", config=causes),),
        episodes=10,
        initialisations=1,
        learning=False,
    )


@pytest.fixture(scope="module")
def little(catalogue: Catalogue, tmp_path_factory: pytest.TempPathFactory) -> Result:
    """The tests of three turns, where their numbers do not matter."""
    folder = tmp_path_factory.mktemp("little") / "run"
    return evaluate(small("walker", ""), folder, catalogue, how=PAGE)


def number(
    found: Found,
    name: str,
    change: str,
    layer: int = 0,
    dose: float = 1.0,
    control: str = "none",
) -> float:
    where = {"change": change, "layer": layer, "dose": dose, "control": control}
    (one,) = [
        one for one in found if one.name == f"causes.{name}" and one.where == where
    ]
    assert one.value is not None, one.reason
    return one.value


def test_both_are_decoded(tested: Result) -> None:
    assert tested.status == "ok", tested.failures
    for thing in ("agent", "goal"):
        (found,) = [
            one
            for one in tested.measurements
            if one.name == f"cogmap.top1.{thing}"
            and (one.where["layer"], one.where["control"]) == (0, "none")
        ]
        assert found.value is not None and found.value > 0.8
        assert number(tested.measurements, "decoded", f"steering {thing}") > 0.5


@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize("kind", ["steering", "patching", "ablation"])
def test_what_the_model_uses_is_a_cause_and_what_it_does_not_use_is_none(
    tested: Result, kind: str, layer: int
) -> None:
    found = tested.measurements
    assert number(found, "effect", f"{kind} agent", layer) > 0.2
    assert number(found, "called", f"{kind} goal", layer) == 0
    # Some of the subspace of either is that of the other, as few as the prompts are,
    # and eleven turns tell too little.
    if kind != "ablation":
        assert abs(number(found, "effect", f"{kind} goal", layer)) < 0.15
        assert number(found, "called", f"{kind} agent", layer) == 1


def test_the_effect_grows_with_the_dose_and_is_beyond_its_control(
    tested: Result,
) -> None:
    found, change = tested.measurements, "steering agent"
    little, much = (number(found, "effect", change, dose=dose) for dose in (0.25, 1.0))
    assert little < 0.3 < much
    assert number(found, "effect", change, control="random direction") < much / 2


@pytest.mark.parametrize("layer", [0, 1])
def test_every_control_of_what_the_model_uses_does_less_than_the_change(
    tested: Result, layer: int
) -> None:
    """Less than half of it; a control that is the change itself, under another name,
    would do all of it.
    """
    found = tested.measurements
    for kind, control in (
        ("steering", "random direction"),
        ("patching", "another grid"),
        ("ablation", "random subspace"),
    ):
        effect = number(found, "effect", f"{kind} agent", layer)
        beside = number(found, "effect", f"{kind} agent", layer, control=control)
        assert beside < effect / 2, kind
        excess = number(found, "excess", f"{kind} agent", layer)
        if (
            kind != "steering"
        ):  # of which the control that is nearest may have another dose
            assert excess == pytest.approx(effect - beside)


def test_a_direction_at_a_layer_that_still_has_what_is_planted_works_there_too(
    tested: Result,
) -> None:
    """Both layers have it, and the model looks at the last: the wrong layer of the
    first is where it looks.
    """
    for thing, least, most in (("agent", 0.2, 1.0), ("goal", -0.15, 0.15)):
        change = f"steering {thing} at a wrong layer"
        effect = number(
            tested.measurements,
            "effect",
            change,
            layer=1,
            control="direction of layer 0",
        )
        assert least < effect <= most


def test_another_pairs_direction_is_a_control_of_steering(tested: Result) -> None:
    """The strongest control is the one to exceed, and the excess is beyond it."""
    found = tested.measurements
    for change in ("steering agent", "steering agent by means"):
        own = number(found, "effect", change)
        beside = [
            number(found, "effect", change, control=control)
            for control in ("random direction", "another pair's direction")
        ]
        assert number(found, "excess", change) == pytest.approx(own - max(beside))
        assert max(beside) < own


def test_steering_by_means_works_for_what_the_model_uses_alone(tested: Result) -> None:
    found = tested.measurements
    for layer in (0, 1):
        assert number(found, "called", "steering agent by means", layer) == 1
        assert number(found, "called", "steering goal by means", layer) == 0
        assert abs(number(found, "effect", "steering goal by means", layer)) < 0.15
    assert number(found, "decoded", "steering agent by means") > 0.5


def test_a_model_that_does_not_read_its_reasoning_has_direct_effects_alone(
    tested: Result,
) -> None:
    found = tested.measurements
    for change in ("patching agent", "steering agent"):
        effect = number(found, "effect", change)
        assert number(found, "direct", change) == effect > 0.2
        assert number(found, "indirect", change) == 0


def test_a_reasoning_in_another_form_has_a_reason(tested: Result) -> None:
    written = [
        one for one in tested.measurements if one.name.startswith("causes.written.")
    ]
    assert {one.name.rpartition(".")[2] for one in written} == {
        "agent",
        "goal",
        "counterfactual",
    }
    for one in written:
        assert one.value is None and "set causes.reasoning" in one.reason


def test_a_pattern_that_is_no_regular_expression_is_refused() -> None:
    with pytest.raises(
        GdeError, match=r"causes.reasoning: .* is no regular expression"
    ):
        CausesConfig(reasoning="(")


def test_another_prompt_shows_how_far_it_could_go(tested: Result) -> None:
    for thing in ("agent", "goal", "wall"):
        assert (
            number(tested.measurements, "effect", f"prompt with another {thing}", -1)
            > 0.9
        )
    assert number(tested.measurements, "called", "patching wall") == 0


def test_numbers_repeat_without_asking_the_model_again(
    little: Result, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    import planted_parts

    monkeypatch.delattr(planted_parts.Walker, "complete")
    again = rescore(little.run, catalogue=catalogue)
    assert again.measurements == little.measurements


def test_a_served_model_is_tested_through_its_local_weights(
    little: Result, catalogue: Catalogue, tmp_path: Path
) -> None:
    served = evaluate(
        small("served-walker", "walker"), tmp_path / "run", catalogue, how=PAGE
    )
    assert [little.status, served.status] == ["ok", "ok"], served.failures
    here, there = (
        [one for one in result.measurements if one.source == "causes"]
        for result in (little, served)
    )
    assert here == there
    assert number(there, "effect", "prompt with another agent", -1) > 0


def test_weights_that_read_another_prompt_than_the_server_did_are_no_test_of_it(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    result = evaluate(
        small("late-walker", "walker"), tmp_path / "run", catalogue, how=PAGE
    )
    (failure,) = result.failures
    assert failure.subject == "causes"
    assert "a prompt of the run with other tokens than its server did" in failure.reason


def test_heads_are_patched_with_what_the_counterfactual_prompt_has_there(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    """The model's blocks give its whole stream, and its heads half of it each."""
    plan = small("walker-with-heads", "")
    (causes,) = plan.metrics
    places = ["residual", "attention", "head:0"]
    config = {**causes.config, "places": places, "cases": 10}
    given = replace(plan, metrics=[replace(causes, config=config)], episodes=30)
    result = evaluate(given, tmp_path / "run", catalogue)
    assert result.status == "ok", result.failures
    found = result.measurements
    whole = number(found, "effect", "patching agent", 1)
    assert whole > 0.2
    assert number(found, "effect", "patching agent at attention", 1) == whole
    half = number(found, "moved", "patching agent at head:0", 1)
    assert half < number(found, "moved", "patching agent", 1)

    lacking = replace(causes, config={"places": ["residual", "head:2"]})
    with pytest.raises(GdeError, match="head:0 to head:1, got 'head:2'"):
        rescore(tmp_path / "run", [lacking], catalogue)


def test_without_a_linear_probe_there_is_a_reason(
    little: Result, catalogue: Catalogue
) -> None:
    evidence = load_evidence(little.run, catalogue)
    for config, reason in (
        (
            CausesConfig(variant="cellwise"),
            "no probe 'cogmap' of variant 'cellwise' has read position 'pre'",
        ),
        (CausesConfig(probe="other"), "no probe 'other'"),
        (CausesConfig(position="post"), "has read position 'post'"),
    ):
        # No part is asked for before there is a probe.
        (one,) = Causes(config, cast("Context", None))(evidence)
        assert one.value is None and reason in one.reason


def test_parts_of_a_run_have_no_numbers(tested: Result, catalogue: Catalogue) -> None:
    assert len(load_evidence(tested.run, catalogue).probe_reports) > 2
    assert not [
        one
        for one in tested.measurements
        if one.source == "causes" and "density" in one.where
    ]


class Noted(Exception):
    """Ends a test of what has been noted."""


def test_directions_are_made_of_training_worlds_alone(
    little: Result, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted: list[Prompt] = []

    def noting(_: object, __: object, ___: object, prompts: Sequence[Prompt]) -> None:
        noted.extend(prompts)
        raise Noted

    monkeypatch.setattr(trials, "load_layers", noting)
    rescore(little.run, [Choice(name="causes")], catalogue)
    evidence = load_evidence(little.run, catalogue)
    held_out = set(evidence.probe_reports[0].rows)
    # Prompts of equal worlds would be equal.
    held_out_prompts = set()
    training_prompts = set()
    for trajectory in evidence.trajectories:
        for turn in trajectory.turns:
            assert turn.decision.completion is not None
            tokens = turn.decision.completion.prompt_tokens
            if (str(trajectory.key), turn.index) in held_out:
                held_out_prompts.add(tokens)
            else:
                training_prompts.add(tokens)
    assert held_out_prompts
    assert {one.answer.prompt_tokens for one in noted} == training_prompts


def test_the_reasoning_may_state_the_true_places_and_the_counterfactual_one() -> None:
    counterfactual = Counterfactual(
        text="",
        best=frozenset({"UP"}),
        here=(1, 1),
        there=(1, 2),
        true={"agent": (1, 1), "goal": (3, 3)},
    )
    true = {"agent": ("agent", (1, 1)), "goal": ("goal", (3, 3))}
    found = trials._statements("agent", counterfactual)
    assert found == {**true, "counterfactual": ("agent", (1, 2))}
    # A wall is no thing that is written.
    assert trials._statements("wall", counterfactual) == true
