"""Private simulators: what an agent tries in them stays there, in a whole run."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pytest

from gde import (
    Brief,
    Capability,
    Choice,
    Decision,
    EnvironmentOffer,
    GdeError,
    How,
    NoConfig,
    Observation,
    Offer,
    Plan,
    RewardName,
    RewardSource,
    Simulator,
    evaluate,
    load_evidence,
)
from gde.before.preparing import warm
from gde.data.reward import RewardTrace
from gde.errors import UnknownName
from gde.request.catalogue import Catalogue
from gde.request.check import check_parts
from gde.request.resolve import resolve
from gde.stages.rollout import at_once
from gde.testing.context import PlainContext
from gde.testing.parts import LEFT, RIGHT, Corridor


@dataclass
class Opened(Corridor):
    """Counts how many of them are open."""

    length: int = 6
    open: ClassVar[list[int]] = [0, 0]

    def __post_init__(self) -> None:
        self.open[0] += 1
        self.open[1] += 1

    def close(self) -> None:
        self.open[0] -= 1


@dataclass
class Trier:
    """Tries both directions three times over in every turn, and then goes where it
    likes.
    """

    directions: Sequence[str]
    simulator: Simulator | None = field(default=None, init=False)
    seen: ClassVar[list[tuple[str, ...]]] = []

    def begin(self, brief: Brief) -> None:
        self.simulator = brief.simulator
        assert brief.environment is None

    async def act(self, observation: Observation) -> Decision:
        assert self.simulator is not None
        here = await self.simulator.present()
        assert here.observation == observation
        for action in (LEFT, RIGHT) * 3:
            there = await self.simulator.step(here, action)
            self.seen.append((observation.text, action, there.observation.text))
            if there.over:
                with pytest.raises(ValueError, match="the episode would be over here"):
                    await self.simulator.step(there, action)
        assert self.simulator.steps % 6 == 0
        return Decision.act(self.directions[0])


def trier(*directions: str, **change: Any) -> Offer[Any, Any]:
    offered: dict[str, Any] = {
        "name": "trier",
        "summary": "s",
        "config": NoConfig,
        "make": lambda _, __: Trier(directions),
        "needs": frozenset({Capability.SIMULATOR}),
    }
    return Offer(**{**offered, **change})


def plan(agent: Any, **change: Any) -> Plan:
    asked: dict[str, Any] = {
        "environment": Choice(name="opened", alias="opened", part=Opened),
        "metrics": ["success"],
    }
    chosen = (
        Choice(name="trier", alias="trier", part=agent)
        if isinstance(agent, Offer)
        else agent
    )
    return Plan(**{**asked, "agent": chosen, **change})


def test_what_is_tried_does_not_happen_and_everything_is_closed(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    Opened.open[:] = [0, 0]
    result = evaluate(plan(trier(RIGHT), episodes=5), tmp_path / "run", catalogue)
    assert result.status == "ok"
    evidence = load_evidence(tmp_path / "run", catalogue)
    assert all(
        one.success == 1 and len(one.turns) == one.world.labels["distance"]
        for one in evidence.trajectories
    )
    assert Opened.open[0] == 0
    assert Opened.open[1] >= 2
    led = {(before, action): after for before, action, after in Trier.seen}
    assert len(set(Trier.seen)) == len(
        led
    )  # an action leads to one place, whatever was tried in between


def test_every_report_says_who_had_a_private_copy(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    result = evaluate(plan(trier(RIGHT)), tmp_path / "run", catalogue)
    assert "Agent trier planned with a simulator, a private copy of the world" in str(
        result.provenance["notice"]
    )


def test_an_agent_that_does_not_say_so_gets_none(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    result = evaluate(
        plan(trier(RIGHT, needs=frozenset())), tmp_path / "run", catalogue
    )
    assert result.status != "ok"
    assert "notice" not in result.provenance or "private" not in str(
        result.provenance["notice"]
    )


def test_a_world_without_copies_is_refused_before_anything_runs(
    catalogue: Catalogue,
) -> None:
    ready = resolve(plan(trier(RIGHT), environment="recipe"), catalogue)
    with pytest.raises(
        GdeError,
        match=r"trier needs an environment with a simulator \(capability simulator\); env",
    ):
        check_parts(ready)


def test_a_setting_can_need_a_simulator(catalogue: Catalogue) -> None:
    @dataclass(frozen=True)
    class Config:
        copies: bool = False

    offer = trier(
        RIGHT,
        config=Config,
        needs=frozenset(),
        needs_for=lambda c: frozenset({Capability.SIMULATOR} if c.copies else ()),
    )
    without = resolve(plan(offer, environment="recipe"), catalogue)
    check_parts(without)
    asked = Choice(name="trier", alias="trier", part=offer, config={"copies": True})
    with pytest.raises(GdeError, match="capability simulator"):
        check_parts(resolve(plan(asked, environment="recipe"), catalogue))


def test_half_as_many_episodes_at_once_where_each_has_two_simulators(
    catalogue: Catalogue,
) -> None:
    few = EnvironmentOffer(
        name="few",
        summary="s",
        config=NoConfig,
        make=lambda _, __: Corridor(),
        gives={Capability.SIMULATOR},
        at_once=3,
    )
    environment = Choice(name="few", alias="few", part=few)
    assert (
        at_once(
            resolve(
                plan(trier(RIGHT), environment=environment),
                catalogue,
                How(concurrency=9),
            )
        )
        == 1
    )
    assert (
        at_once(
            resolve(
                plan("scripted", environment=environment), catalogue, How(concurrency=9)
            )
        )
        == 3
    )


@dataclass(frozen=True)
class Advised:
    """Whose rewards are asked for."""

    reward: RewardName = "monotonic"


@dataclass
class Advisee:
    reward: RewardSource
    told: ClassVar[list[RewardTrace]] = []

    def begin(self, brief: Brief) -> None:
        assert brief.simulator is not None
        self.begun = brief.simulator.begun

    async def act(self, observation: Observation) -> Decision:
        self.told.append(await self.reward.rewards(self.begun))
        return Decision.act(RIGHT)


def advisee(**config: Any) -> Choice:
    make = lambda c, context: Advisee(context.reward_model(c.reward))  # noqa: E731
    offer = trier(config=Advised, make=make)
    return Choice(name="advisee", alias="advisee", part=offer, config=config)


def test_an_agent_asks_a_reward_model_by_name(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    ready = resolve(plan(advisee()), catalogue)
    assert list(ready.judges) == ["monotonic"]
    assert ready.rewards == ()
    assert "monotonic" in {part.label for part in ready.parts}
    assert evaluate(ready.plan, tmp_path / "run", catalogue).status == "ok"
    assert Advisee.told


def test_it_is_the_one_of_the_run_where_the_run_has_it(catalogue: Catalogue) -> None:
    own = Choice(name="constant", alias="mine", config={"value": 3.0})
    ready = resolve(plan(advisee(reward="mine"), rewards=(own,)), catalogue)
    assert ready.judges["mine"].config.value == 3.0
    assert [part.label for part in ready.parts].count("mine") == 1


def test_a_reward_model_that_nobody_offers_is_named_before_anything_runs(
    catalogue: Catalogue,
) -> None:
    with pytest.raises(UnknownName, match="unknown reward model 'orakel'"):
        resolve(plan(advisee(reward="orakel")), catalogue)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        (
            "strict",
            r"strict\.scale: wanted a value, got none; set strict\.scale=VALUE",
        ),
        ("homeless", r"homeless\.folder: wanted a folder, got none"),
    ],
)
def test_one_that_cannot_do_without_settings_says_how_it_gets_them(
    name: str, wanted: str, tmp_path: Path, asking: Catalogue
) -> None:
    """Before anything is written, whether its configuration or who makes it knows."""
    with pytest.raises(
        GdeError, match=rf"^{wanted}; add the reward model {name} to set it$"
    ):
        evaluate(plan(advisee(reward=name)), tmp_path / "run", asking)
    assert not [*tmp_path.iterdir()]


def test_settings_of_the_one_of_the_run_are_enough(
    tmp_path: Path, asking: Catalogue
) -> None:
    given = plan(
        advisee(reward="homeless"),
        rewards=(Choice(name="homeless", config={"folder": "f"}),),
    )
    warm(resolve(given, asking))


def test_what_the_reward_model_needs_is_needed(catalogue: Catalogue) -> None:
    blind = Choice(
        name="blind",
        alias="blind",
        part=EnvironmentOffer(
            name="blind",
            summary="s",
            config=NoConfig,
            make=lambda _, __: Corridor(),
            gives={Capability.SIMULATOR},
        ),
    )
    with pytest.raises(
        GdeError,
        match="oracle needs an environment with certified optimal actions or true rewards",
    ):
        check_parts(
            resolve(plan(advisee(reward="oracle"), environment=blind), catalogue)
        )


def test_that_it_knows_the_truth_is_told(tmp_path: Path, catalogue: Catalogue) -> None:
    result = evaluate(plan(advisee(reward="oracle")), tmp_path / "run", catalogue)
    assert (
        "Reward model oracle, which agent advisee used, reads the true rewards."
        in str(result.provenance["notice"])
    )


def test_a_plain_context_has_the_given_ones_and_the_installed_ones() -> None:
    given = PlainContext().reward_model("monotonic")
    context = PlainContext(rewards={"mine": given})
    assert context.reward_model("mine") is given
    with pytest.raises(UnknownName, match="unknown reward model"):
        context.reward_model("none such")
