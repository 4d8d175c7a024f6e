"""A planted cause is found, and what is merely decodable is not called one."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from gde.data.activations import ActivationRecord, CaptureRequest
from gde.data.completion import ChatRequest, Completion, Message
from gde.data.result import Measurement
from gde.errors import GdeError
from gde.testing.parts import LEFT, PlantedModel
from gde_plugins.probes.causes.cases import (
    UNCHANGED,
    Actions,
    Case,
    Change,
    Read,
    changed_requests,
    gathered,
    predicted_shares,
)
from gde_plugins.probes.causes.effects import (
    OUT_OF_REACH,
    Replays,
    causal_effects,
    is_cause,
    verdict,
)
from gde_plugins.probes.causes.interventions import (
    Where,
    ablate,
    deepest_activations,
    differ,
    orthonormal,
    patch,
    prompt_of,
    random_direction,
    steer,
    subspace,
    towards,
)
from gde_plugins.probes.fitting.places import Places, PlaceWeights, incidence

MODEL = PlantedModel()
WHERE = Where(layer=0)
N = 10
NAMES = ("effect", "moved", "p", "excess")
CASES = [
    Case(
        request=ChatRequest(
            messages=(Message(role="user", content=f"#A{'_' * i}G#"),), seed=i
        ),
        world=f"world {i}",
        predicted=frozenset({LEFT}),
    )
    for i in range(N)
]


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def answer(place: int) -> Completion:
    return asyncio.run(MODEL.complete(CASES[place].request))


def everywhere(
    name: str,
    direction: np.ndarray,
    dose: float = 1.0,
    control: str = "",
    layer: int = 0,
) -> Change:
    made = steer(Where(layer=layer), direction, dose)
    return Change(
        name=name, layer=layer, dose=dose, control=control, interventions=(made,) * N
    )


def activations_of(place: int) -> np.ndarray:
    """(tokens, width) of the prompt of a case."""
    request = CaptureRequest(layers=(WHERE.layer,), positions=(WHERE.position,))
    (record,) = MODEL.capture([prompt_of(answer(place))], request)
    return record.values[WHERE.layer, WHERE.position]


async def said(_: Case, answer: Completion) -> str | None:
    return answer.text


async def unusable(_: Case, __: Completion) -> str | None:
    return None


def effects(
    *changes: Change, read: Read = said, samples: int = 1, model: PlantedModel = MODEL
) -> list[Measurement]:
    replays = Replays(model=model, cases=CASES, read=read, samples=samples)
    return asyncio.run(causal_effects(replays, changes, rng()))


def number(found: Sequence[Measurement], name: str, change: Change) -> float | None:
    (one,) = [one for one in found if one.name == name and one.where == change.where]
    return one.value


def test_a_planted_cause_is_found_at_the_dose_that_it_takes() -> None:
    doses = [everywhere("steering", MODEL.turning, dose) for dose in (0.5, 2.0)]
    control = everywhere(
        "steering", random_direction(MODEL.turning, rng()), 2.0, "random direction"
    )
    found = effects(*doses, control)
    assert [number(found, "effect", each) for each in (*doses, control)] == [0, 1, 0]
    assert [number(found, "moved", each) for each in doses] == [0, 1]
    assert [is_cause(found, each.where) for each in doses] == [False, True]
    assert number(found, "excess", doses[1]) == 1


def test_what_is_decodable_but_not_used_is_no_cause() -> None:
    # Every text is planted linearly, so the difference of two is a direction that a
    # probe finds.
    decodable = activations_of(3) - activations_of(4)
    changes = [everywhere("steering", decodable, dose) for dose in (1.0, 8.0)]
    control = everywhere(
        "steering", random_direction(decodable, rng()), 8.0, "random direction"
    )
    found = effects(*changes, control)
    assert not any(is_cause(found, each.where) for each in changes)
    assert [number(found, "effect", each) for each in changes] == [0, 0]


def test_a_change_that_moves_no_more_than_its_control_is_no_cause() -> None:
    tested, control = (
        everywhere("steering", MODEL.turning, 2.0, each) for each in ("", "wrong layer")
    )
    assert number(found := effects(tested, control), "effect", tested) == 1
    assert number(found, "excess", tested) == 0
    assert not is_cause(found, tested.where)


def test_the_excess_is_beyond_the_strongest_of_several_controls() -> None:
    tested = everywhere("steering", MODEL.turning, 2.0)
    weak = everywhere(
        "steering", random_direction(MODEL.turning, rng()), 2.0, "random direction"
    )
    strong = everywhere("steering", MODEL.turning, 2.0, "wrong layer")
    for controls in ((weak, strong), (strong, weak)):
        found = effects(tested, *controls)
        assert [number(found, "effect", each) for each in (weak, strong)] == [0, 1]
        assert number(found, "excess", tested) == 0


def test_a_control_is_of_the_same_layer_and_dose() -> None:
    name, turning = "steering", MODEL.turning
    doses = [everywhere(name, turning, dose) for dose in (0.5, 2.0)]
    controls = [everywhere(name, turning, dose, "control") for dose in (0.5, 2.0)]
    found = effects(*doses, *controls)
    # The control of dose 2 turns the answers, and is none of dose .5.
    assert [number(found, "excess", one) for one in doses] == [0, 0]

    deeper = everywhere(name, turning, 2.0, "control", layer=1)
    found = effects(*doses, deeper)
    (one,) = (
        each for each in found if each.name == "excess" and each.where == doses[1].where
    )
    assert one.reason == "steering has no control"


def test_p_values_are_corrected_for_all_changes_but_controls() -> None:
    tested = everywhere("steering", MODEL.turning, 2.0)
    again = everywhere("steering", MODEL.turning, 3.0)
    control = everywhere("steering", MODEL.turning, 2.0, "wrong layer")
    # The signs of ten worlds that all differ in one direction.
    alone = 2 / 2**N
    assert number(effects(control, tested), "p", tested) == pytest.approx(alone)
    found = effects(control, tested, again)
    for one in (tested, again):
        assert number(found, "p", one) == pytest.approx(2 * alone)


@pytest.mark.parametrize(
    ("p", "effect", "excess", "low", "expected"),
    [
        (0.01, 0.5, 0.5, 0.1, True),
        (0.05, 0.5, 0.5, 0.1, False),
        (None, 0.5, 0.5, 0.1, False),
        # A significant effect in the other direction.
        (0.01, -0.5, 0.5, 0.1, False),
        (0.01, 0.5, 0.5, -0.1, False),
        (0.01, 0.5, 0.5, None, True),
        (0.01, 0.5, 0.0, None, False),
    ],
)
def test_a_cause_has_a_significant_effect_beyond_its_controls(
    p: float | None, effect: float, excess: float, low: float | None, expected: bool
) -> None:
    change = everywhere("steering", MODEL.turning)
    interval = None if low is None else (low, 1.0)
    numbers = [
        Measurement(
            name="p",
            value=p,
            unit="probability",
            n=N,
            reason="" if p else "too few pairs",
        ),
        Measurement(name="effect", value=effect, unit="share", n=N),
        Measurement(name="excess", value=excess, unit="share", n=N, interval=interval),
    ]
    found = [replace(one, where=change.where) for one in numbers]
    assert is_cause(found, change.where) == expected


def test_cases_of_one_world_are_no_independent_pairs() -> None:
    cases = []
    for i, case in enumerate(CASES):
        cases.append(replace(case, world=f"world {i // 2}"))
    change = everywhere("steering", MODEL.turning, 2.0)
    control = everywhere(
        "steering", random_direction(MODEL.turning, rng()), 2.0, "random direction"
    )
    replays = Replays(model=MODEL, cases=cases, read=said)
    found = asyncio.run(causal_effects(replays, [change, control], rng()))
    own = {one.name: one for one in found if one.where == change.where}
    for name in ("effect", "excess", "direct", "indirect"):
        assert own[name].clusters == N / 2
    assert own["p"].value is None


def test_answers_to_a_case_differ_by_the_change_alone() -> None:
    made = everywhere("steering", MODEL.turning, 2.0)
    others = tuple(
        ChatRequest(messages=(Message(role="user", content="other"),), seed=100 + i)
        for i in range(N)
    )
    instead = Change(name="prompt", layer=-1, instead=others)
    plain, changed, replaced = (
        changed_requests(CASES, change, samples=3)
        for change in (UNCHANGED, made, instead)
    )
    seeds = set()
    for i, case in enumerate(CASES):
        for own, one, other in zip(plain[i], changed[i], replaced[i], strict=True):
            seeds.add(own.seed)
            assert own == replace(case.request, seed=own.seed)
            assert one == replace(own, interventions=made.interventions[i])
            assert other == replace(others[i], seed=own.seed)
    # Every sample has its own.
    assert len(seeds) == 3 * N


def test_a_share_is_that_of_all_samples_usable_or_not() -> None:
    actions: Actions = [[LEFT, None, "up", LEFT], [None] * 4, ["up"] * 4]
    cases = [CASES[0], replace(CASES[1], predicted=frozenset({None})), CASES[2]]
    assert predicted_shares(actions, cases).tolist() == [0.5, 1, 0]


def test_gathered_results_stand_where_their_tasks_stood() -> None:
    async def one(place: tuple[int, int]) -> tuple[int, int]:
        return place

    async def gather() -> list[list[tuple[int, int]]]:
        return await gathered([[one((i, j)) for j in range(3)] for i in range(2)])

    expected = [[(i, j) for j in range(3)] for i in range(2)]
    assert asyncio.run(gather()) == expected


def test_patching_brings_the_counterfactuals_answer_and_ablation_takes_it_away() -> (
    None
):
    steered = MODEL.turning * 2
    counterfactuals = [activations_of(i) + steered for i in range(N)]
    patched = Change(
        name="patching",
        layer=0,
        interventions=tuple(
            patch(WHERE, counterfactual) for counterfactual in counterfactuals
        ),
    )
    others = tuple(patch(WHERE, activations_of((i + 1) % N)) for i in range(N))
    control = Change(
        name="patching", layer=0, control="another grid", interventions=others
    )
    random = random_direction(MODEL.turning, rng())
    axes = [axis[0] for axis in orthonormal([MODEL.turning[None], random[None]])]
    removed = (
        *steer(WHERE, steered),
        *ablate(WHERE, axes, np.zeros_like(axes[0])),
    )
    ablated = Change(name="ablation", layer=0, interventions=(removed,) * N)
    found = effects(patched, control, ablated)
    assert is_cause(found, patched.where)
    assert number(found, "effect", ablated) == 0
    assert next(
        one for one in found if one.name == "excess" and one.where == ablated.where
    ).reason == ("ablation has no control")


def test_ablation_leaves_the_mean_alone_where_its_directions_span() -> None:
    directions = [
        rng().normal(size=(1, MODEL.width)).astype(np.float32),
        np.ones((1, MODEL.width), np.float32),
    ]
    given = np.random.default_rng(1).normal(3, 1, size=(3, MODEL.width))
    mean = np.full((1, MODEL.width), 3, np.float32)
    stream = given
    for each in ablate(WHERE, orthonormal(directions), mean):
        stream = np.asarray(each.applied(stream))
    spanning = np.concatenate(directions).T
    assert np.allclose(stream @ spanning, mean @ spanning, atol=1e-4)
    # Across the subspace, nothing changes.
    others = np.linalg.svd(spanning.T)[2][2:].T
    assert np.allclose(stream @ others, given @ others, atol=1e-4)


def test_an_axis_that_only_rounding_has_made_is_left_in() -> None:
    """Rows and columns of a probe depend on each other, but for the last digits of a
    fit in float32.
    """
    first, second = (
        np.random.default_rng(seed).normal(size=MODEL.width) for seed in (1, 2)
    )
    noise = 1e-5 * np.random.default_rng(3).normal(size=MODEL.width)
    directions = [
        each.astype(np.float32)[None]
        for each in (first, second, first - second + noise)
    ]
    assert len(orthonormal(directions)) == 2
    another = (first - second + 1e3 * noise).astype(np.float32)[None]
    assert len(orthonormal([*directions[:2], another])) == 3


def test_a_change_that_changes_nothing_has_a_reason_and_no_number() -> None:
    nothing, turned = (
        everywhere("steering", MODEL.turning, dose) for dose in (0.0, 2.0)
    )
    one = replace(
        turned,
        interventions=(*nothing.interventions[:1], *turned.interventions[1:]),
        dose=1.0,
    )
    (plain,) = deepest_activations(MODEL, [answer(0)], [()], ("pre",))
    (changed,) = deepest_activations(
        MODEL, [answer(0)], [nothing.interventions[0]], ("pre",)
    )
    assert not differ(plain, changed)
    found = effects(nothing, turned, one)
    for change, cases in ((nothing, N), (one, 1)):
        numbers = [each for each in found if each.where == change.where]
        assert {each.name for each in numbers} == {*NAMES, "direct", "indirect"}
        assert all(each.value is None for each in numbers)
        assert all(
            each.reason.endswith(f"forward pass of {cases} of {N} cases")
            for each in numbers
        )
        assert not is_cause(found, change.where)
    assert number(found, "effect", turned) == 1


class Direct(PlantedModel):
    """Writes a first token that depends on the prompt."""

    async def complete(self, request: ChatRequest) -> Completion:
        written = await super().complete(request)
        return replace(written, tokens=(1000 + request.seed % 1000, *written.tokens))


def test_a_change_that_reaches_the_same_token_in_all_answers_has_a_reason() -> None:
    last = MODEL.n_layers - 1
    tested = everywhere("steering", MODEL.turning, 0.5, layer=last)
    earlier = everywhere("steering", MODEL.turning, 0.5, layer=last - 1)
    found = effects(tested, earlier)
    of_last = [one for one in found if one.where == tested.where]
    assert {one.name for one in of_last} == {*NAMES, "direct", "indirect"}
    assert {one.reason for one in of_last} == {OUT_OF_REACH}
    called = verdict(found, tested, N)
    assert (called.value, called.reason) == (None, OUT_OF_REACH)

    # The layer before is attended to, and the first token may tell the cases apart.
    assert number(found, "effect", earlier) == verdict(found, earlier, N).value == 0
    assert number(effects(tested, model=Direct()), "effect", tested) == 0


def test_what_is_asked_instead_shows_how_far_a_change_could_go() -> None:
    turned = tuple(
        replace(case.request, interventions=steer(WHERE, MODEL.turning, 2.0))
        for case in CASES
    )
    other = Change(name="prompt", layer=-1, instead=turned)
    # What is asked instead is asked without interventions: it is the prompt that is
    # another.
    assert number(effects(other), "effect", other) == 0


@pytest.mark.parametrize("places", ["cellwise", "bilinear"])
def test_the_direction_from_cell_to_cell_moves_their_scores_apart_by_one(
    places: Places,
) -> None:
    random, shape = rng(), (2, 3)
    n = 6 if places == "cellwise" else 5
    weights = PlaceWeights(
        places=places,
        n_classes=3,
        mean=np.zeros(12, np.float32),
        scale=random.uniform(0.5, 2, 12).astype(np.float32),
        by_place=random.normal(size=(12, n * 3)).astype(np.float32),
        bias=np.zeros(n * 3, np.float32),
    )
    among = random.normal(size=(50, 3, 4)).astype(np.float32)
    direction = towards(weights, 1, (2, 3), shape, among)
    assert direction.shape == (3, 4)
    scores = (direction.reshape(-1) / weights.scale) @ weights.by_place
    logits = (incidence(places, shape) @ scores.reshape(n, 3))[:, 1]
    assert logits[3] - logits[2] == pytest.approx(1, rel=1e-3)
    with pytest.raises(GdeError, match="nothing to steer along"):
        towards(weights, 1, (2, 3), shape, among * 0)


@pytest.mark.parametrize("places", ["cellwise", "bilinear"])
def test_without_its_subspace_nothing_goes_with_what_a_probe_says(
    places: Places,
) -> None:
    random, shape = rng(), (2, 3)
    n = 6 if places == "cellwise" else 5
    weights = PlaceWeights(
        places=places,
        n_classes=2,
        mean=np.zeros(24, np.float32),
        scale=np.geomspace(0.1, 10, 24).astype(np.float32),
        by_place=random.normal(size=(24, n * 2)).astype(np.float32),
        bias=np.zeros(n * 2, np.float32),
    )
    streams = (
        (random.normal(size=(40, 24)) @ random.normal(size=(24, 24)))
        .reshape(40, 2, 12)
        .astype(np.float32)
    )
    inputs = streams.reshape(40, 24) / weights.scale
    of_places = (inputs @ weights.by_place).reshape(40, n, 2)[..., 1]
    said = of_places @ incidence(places, shape).T
    changed = streams
    axes = subspace(weights, 1, range(6), shape, streams)
    for each in ablate(WHERE, axes, streams.mean(axis=0)):
        changed = np.stack([each.applied(stream) for stream in changed])

    def most(of: np.ndarray) -> float:
        centred = of.reshape(40, 24) - of.reshape(40, 24).mean(axis=0)
        return float(np.abs(centred.T @ (said - said.mean(axis=0))).max())

    assert most(changed) < 1e-4 * most(streams)
    assert np.allclose(changed.mean(axis=0), streams.mean(axis=0), atol=1e-4)


def test_an_unusable_answer_is_no_predicted_one() -> None:
    async def first_is_usable(case: Case, answer: Completion) -> str | None:
        return answer.text if case is CASES[0] else None

    change = everywhere("steering", MODEL.turning, 2.0)
    found = effects(change, read=first_is_usable)
    assert number(found, "effect", change) == pytest.approx(1 / N)
    assert number(found, "moved", change) == pytest.approx(1 / N)


def test_where_no_answer_is_usable_there_is_a_reason_and_no_number() -> None:
    async def usable_unless_turned(_: Case, answer: Completion) -> str | None:
        return None if answer.text == LEFT else answer.text

    change = everywhere("steering", MODEL.turning, 2.0)
    control = replace(change, control="random direction")
    for read, reason in (
        (unusable, "no answer without a change was usable"),
        (usable_unless_turned, "no answer with the change was usable"),
    ):
        found = effects(change, control, read=read, samples=2)
        assert {one.name for one in found} == {*NAMES, "direct", "indirect"}
        assert {(one.value, one.reason) for one in found} == {(None, reason)}
        assert not is_cause(found, change.where)


def test_a_direction_is_one_along_which_activations_vary() -> None:
    """The gradient would also go where only the weights of the probe point."""
    random = rng()
    weights = PlaceWeights(
        places="cellwise",
        n_classes=2,
        mean=np.zeros(12, np.float32),
        scale=np.ones(12, np.float32),
        by_place=random.normal(size=(12, 12)).astype(np.float32),
        bias=np.zeros(12, np.float32),
    )
    among = random.normal(size=(50, 3, 4)).astype(np.float32)
    among[:, :, 2:] = 1
    direction = towards(weights, 1, (2, 3), (2, 3), among)
    assert np.allclose(direction[:, 2:], 0, atol=1e-6)
    assert np.abs(direction[:, :2]).min() > 1e-3


def test_every_token_loses_as_many_dimensions_as_the_poorest_can() -> None:
    directions = rng().normal(size=(2, 2, MODEL.width)).astype(np.float32)
    # Of the second token both directions are the same.
    directions[1, 1] = directions[0, 1]
    (axis,) = orthonormal([*directions])
    made, _ = ablate(WHERE, [axis], np.zeros_like(axis))
    assert made.vector.shape == (2, MODEL.width)


def test_a_change_of_the_deepest_layer_is_seen() -> None:
    change = everywhere("steering", MODEL.turning, 2.0, layer=MODEL.n_layers - 1)
    assert number(effects(change), "effect", change) == 1


def test_captures_differ_where_any_place_does() -> None:
    zeros, ones = np.zeros((1, 2), np.float32), np.ones((1, 2), np.float32)
    one = ActivationRecord(values={(0, "pre"): zeros, (0, "message"): zeros})
    other = ActivationRecord(values={(0, "pre"): zeros, (0, "message"): ones})
    assert differ(one, other)
    assert not differ(one, one)
