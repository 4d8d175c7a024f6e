"""Planted effects on the answer alone, or on the reasoning alone, come out as such."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

from gde.data.completion import ChatRequest, Completion, Message
from gde.data.result import Measurement
from gde.errors import GdeError
from gde.seeding import derive
from gde.testing.parts import LEFT, RIGHT, PlantedModel
from gde.testing.parts.models import CLOSING
from gde_plugins.probes.causes import reasoning
from gde_plugins.probes.causes.cases import Case, Change
from gde_plugins.probes.causes.effects import Replays, causal_effects
from gde_plugins.probes.causes.interventions import Where, steer
from gde_plugins.probes.causes.mediation import IGNORED, NO_REASONING
from gde_plugins.probes.causes.reasoning import written_places

N = 10
PATTERN = r"A (?P<agent>\d+,\d+) G (?P<goal>\d+,\d+)"
TURNED, USUAL = "A 1,3 G 4,4", "A 1,2 G 4,4"
"""What the model writes with the change and without it."""
Answers = Callable[[bool, bool], bool]


def by_stream(turned: bool, _: bool) -> bool:
    return turned


def by_reasoning(_: bool, written: bool) -> bool:
    return written


def by_either(turned: bool, written: bool) -> bool:
    return turned or written


def by_both(turned: bool, written: bool) -> bool:
    return turned and written


@dataclass
class Reasoner(PlantedModel):
    """Writes whether its stream is turned, and answers by the stream, by what is
    written, or by both.
    """

    goes_left: Answers = by_stream

    async def complete(self, request: ChatRequest) -> Completion:
        answer = await super().complete(replace(request, prefill=()))
        turned = answer.text == LEFT
        usual = TURNED if turned else USUAL
        thought = "".join(map(chr, request.prefill)) or f"{usual}{CLOSING}"
        left = self.goes_left(turned, TURNED in thought)
        given = replace(request, prefill=tuple(map(ord, thought)))
        return self._answer(given, LEFT if left else RIGHT)


MODEL = Reasoner()
CASES = [
    Case(
        request=ChatRequest(
            messages=(Message(role="user", content=f"#A{'_' * i}G#"),), seed=i
        ),
        world=f"world {i}",
        predicted=frozenset({LEFT}),
        statements={
            "agent": ("agent", (1, 2)),
            "goal": ("goal", (4, 4)),
            "counterfactual": ("agent", (1, 3)),
        },
    )
    for i in range(N)
]
TURN = Change(
    name="steering",
    layer=0,
    interventions=(steer(Where(layer=0), MODEL.turning, 2.0),) * N,
)


async def said(_: Case, answer: Completion) -> str | None:
    return answer.text or None


def effects(
    model: PlantedModel,
    *changes: Change,
    cases: Sequence[Case] = CASES,
    pattern: str = PATTERN,
    samples: int = 1,
) -> dict[str, Measurement]:
    """The measurements of the last change, by name."""
    replays = Replays(
        model=model, cases=cases, read=said, pattern=pattern, samples=samples
    )
    changes = changes or (TURN,)
    found = asyncio.run(causal_effects(replays, changes, np.random.default_rng(0)))
    return {one.name: one for one in found if one.where == changes[-1].where}


@pytest.mark.parametrize(
    ("goes_left", "total", "direct", "indirect"),
    [
        (by_stream, 1, 1, 0),
        (by_reasoning, 1, 0, 1),
        (by_either, 1, 1, 1),
        (by_both, 1, 0, 0),
    ],
)
@pytest.mark.parametrize("samples", [1, 2])
def test_each_effect_is_the_planted_one(
    goes_left: Answers, total: int, direct: int, indirect: int, samples: int
) -> None:
    found = effects(Reasoner(goes_left=goes_left), samples=samples)
    values = [found[name].value for name in ("effect", "direct", "indirect")]
    assert values == [total, direct, indirect]
    assert {found[name].n for name in ("effect", "direct", "indirect")} == {N}


def test_an_effect_in_some_worlds_has_an_interval_over_worlds() -> None:
    half = tuple(TURN.interventions[0] for _ in range(5))
    nothing = tuple(steer(Where(layer=0), MODEL.turning, 0.1) for _ in range(5))
    change = replace(TURN, interventions=half + nothing)
    direct = effects(Reasoner(goes_left=by_stream), change)["direct"]
    assert direct.value == 0.5
    assert direct.interval is not None
    assert 0 < direct.interval[0] < 0.5 < direct.interval[1] < 1
    assert direct.clusters == N


def test_another_prompt_has_a_direct_and_an_indirect_effect_too() -> None:
    """The prompt cannot tell the model to go left: it must be the reasoning."""

    @dataclass
    class Prompted(Reasoner):
        async def complete(self, request: ChatRequest) -> Completion:
            other = "other" in request.messages[0].content
            thought = "".join(map(chr, request.prefill))
            thought = thought or f"{TURNED if other else USUAL}{CLOSING}"
            given = replace(request, prefill=tuple(map(ord, thought)))
            return self._answer(given, LEFT if TURNED in thought else RIGHT)

    message = Message(role="user", content="other")
    requests = tuple(replace(case.request, messages=(message,)) for case in CASES)
    found = effects(Prompted(), Change(name="prompt", layer=-1, instead=requests))
    values = [found[name].value for name in ("effect", "direct", "indirect")]
    assert values == [1, 0, 1]


def test_a_model_that_refuses_a_prefill_has_a_reason() -> None:
    @dataclass
    class Refusing(PlantedModel):
        async def complete(self, request: ChatRequest) -> Completion:
            if request.prefill:
                raise GdeError("planted takes no prefill")
            return await super().complete(request)

    found = effects(Refusing())
    assert found["effect"].value == 1
    for name in ("direct", "indirect"):
        assert (found[name].value, found[name].reason) == (
            None,
            "planted takes no prefill",
        )


def test_a_model_that_ignores_a_prefill_has_a_reason() -> None:
    @dataclass
    class Ignoring(PlantedModel):
        async def complete(self, request: ChatRequest) -> Completion:
            answer = await super().complete(replace(request, prefill=()))
            # Its reasoning is another with every request.
            odd = "odd" if request.prefill else "even"
            return replace(answer, tokens=(*map(ord, odd), *answer.tokens))

    found = effects(Ignoring())
    assert [found[name].reason for name in ("direct", "indirect")] == [IGNORED] * 2


@dataclass
class AtOnce(PlantedModel):
    """Writes no reasoning to the requests of some seeds."""

    seeds: frozenset[int] = frozenset()

    async def complete(self, request: ChatRequest) -> Completion:
        answer = await super().complete(request)
        content = request.messages[0].content
        if content.count("_") in self.seeds and not request.prefill:
            places = {"pre": answer.positions["pre"]}
            return replace(answer, reasoning=None, positions=places)
        return answer


def test_without_reasoning_there_is_a_reason_and_no_number() -> None:
    found = effects(AtOnce(seeds=frozenset(range(N))))
    assert found["effect"].value == 1
    for name in ("direct", "indirect"):
        assert (found[name].value, found[name].reason) == (None, NO_REASONING)
    written = found["written.agent"]
    assert (written.value, written.reason) == (None, reasoning.NO_REASONING)


def test_turns_without_reasoning_are_left_out() -> None:
    found = effects(AtOnce(seeds=frozenset({0, 3})))
    assert found["effect"].n == N
    assert [found[name].n for name in ("direct", "indirect")] == [N - 2] * 2


def test_an_empty_reasoning_is_left_out_too() -> None:
    @dataclass
    class Empty(AtOnce):
        async def complete(self, request: ChatRequest) -> Completion:
            answer = await PlantedModel.complete(self, request)
            content = request.messages[0].content
            if content.count("_") in self.seeds and not request.prefill:
                return replace(answer, reasoning="")
            return answer

    found = effects(Empty(seeds=frozenset({1, 3})))
    assert [found[name].n for name in ("direct", "indirect")] == [N - 2] * 2


def test_a_sample_without_reasoning_is_left_out_of_both_sides() -> None:
    """The second sample of each case is without, and goes left in any case."""
    seconds = {derive(case.request.seed, "cause", 1) for case in CASES}

    @dataclass
    class Half(Reasoner):
        async def complete(self, request: ChatRequest) -> Completion:
            answer = await super().complete(request)
            if request.seed in seconds and not request.prefill:
                places = {"pre": answer.positions["pre"]}
                return replace(answer, text=LEFT, reasoning=None, positions=places)
            return answer

    found = effects(Half(goes_left=by_stream), samples=2)
    values = [found[name].value for name in ("effect", "direct", "indirect")]
    assert values == [0.5, 1, 0]


def test_a_reasoning_that_never_ends_leaves_no_answer() -> None:
    """As it did when the model wrote it: the action of such a turn is lost again."""

    @dataclass
    class Endless(Reasoner):
        async def complete(self, request: ChatRequest) -> Completion:
            answer = await super().complete(request)
            if request.interventions and "#A__G#" in request.messages[0].content:
                places = {"pre": answer.positions["pre"]}
                return replace(answer, text="", positions=places, finish="length")
            return answer

    found = effects(Endless(goes_left=by_reasoning))
    for name in ("effect", "indirect"):
        assert found[name].n == N
        assert found[name].value == pytest.approx((N - 1) / N)


def test_an_answer_that_reasons_further_is_left_out() -> None:
    @dataclass
    class Further(Reasoner):
        async def complete(self, request: ChatRequest) -> Completion:
            answer = await super().complete(request)
            if request.prefill and "#A__G#" in request.messages[0].content:
                return replace(answer, reasoning=f"{answer.reasoning} or not?")
            return answer

    found = effects(Further(goes_left=by_reasoning))
    assert [found[name].n for name in ("direct", "indirect")] == [N - 1] * 2


def test_the_reasoning_writes_the_counterfactual_place_with_the_change() -> None:
    own = tuple(case.request for case in CASES)
    unchanged = Change(name="prompt", layer=-1, control="own prompt", instead=own)
    for change, agent, counterfactual in ((TURN, 0, 1), (unchanged, 1, 0)):
        found = effects(MODEL, change)
        assert found["written.agent"].value == agent
        assert found["written.counterfactual"].value == counterfactual
        assert found["written.goal"].value == 1


def test_a_reasoning_that_the_pattern_does_not_match_has_a_reason() -> None:
    for pattern, missing in (
        (r"agent at (?P<agent>\d+,\d+)", {"agent", "goal", "counterfactual"}),
        (r"A (?P<agent>\d+,\d+)", {"goal"}),
    ):
        found = effects(MODEL, pattern=pattern)
        for name in ("agent", "goal", "counterfactual"):
            one = found[f"written.{name}"]
            assert (one.value is None) == (name in missing)
            if name in missing:
                assert "set causes.reasoning" in one.reason


def test_reasonings_that_the_pattern_does_not_match_are_left_out() -> None:
    @dataclass
    class Mute(Reasoner):
        async def complete(self, request: ChatRequest) -> Completion:
            answer = await super().complete(request)
            if "#A__G#" in request.messages[0].content:
                return replace(answer, reasoning="no cells")
            return answer

    found = effects(Mute())
    assert (found["written.goal"].value, found["written.goal"].n) == (1, N - 1)


def test_the_places_that_a_reasoning_writes_first_are_read() -> None:
    both = {"agent": (1, 2), "goal": (4, 4)}
    assert written_places(PATTERN, f"first {USUAL}, then A 9,9 G 0,0") == both
    assert written_places(PATTERN, "A 1,2") == {}
    # A group that holds no row and column says nothing.
    assert written_places(r"(?P<agent>\d)", "7") == {}
    assert written_places("", USUAL) == {}


def test_every_reasoning_is_held_against_the_places_of_its_own_case() -> None:
    cases = []
    for i, case in enumerate(CASES):
        # True of the first four cases alone.
        statements = {"agent": ("agent", (1, 2) if i < 4 else (i, i))}
        cases.append(replace(case, statements=statements))
    own = tuple(case.request for case in CASES)
    unchanged = Change(name="prompt", layer=-1, control="own prompt", instead=own)
    found = effects(MODEL, unchanged, cases=cases)
    assert found["written.agent"].value == 0.4
