"""The bot solves what can be solved; the search is exact."""

from collections import deque
from math import inf

import pytest

from gde_plugins.babyai.config import BabyAIConfig
from gde_plugins.babyai.environment import BabyAIEnvironment
from gde_plugins.babyai.oracle.bot import OmniBot
from gde_plugins.babyai.oracle.bounds import Bound
from gde_plugins.babyai.oracle.certificate import Certificates
from gde_plugins.babyai.oracle.distances import FAR
from gde_plugins.babyai.oracle.proof import is_impossible
from gde_plugins.babyai.oracle.search import shortest
from gde_plugins.babyai.oracle.subgoals import Subgoal, parse, write
from gde_plugins.babyai.worlds.generation import make_scene
from gde_plugins.babyai.worlds.levels import LEVELS, PAPER_LEVELS
from gde_plugins.babyai.worlds.scene import ACTIONS
from gde_plugins.babyai.worlds.simulation import Simulation

STRICT = ("OpenDoorsOrderN2Debug", "OpenDoorsOrderN4Debug")
"""Where minigrid's verifier fails a mission for the very action that fulfils its first
half.
"""


def played(now: Simulation, bot: OmniBot) -> Simulation:
    while (
        not now.over
        and now.n_steps < now.scene.max_steps
        and (action := bot.suggest(now)) is not None
    ):
        now.act(action)
    return now


def start(level: str, seed: int) -> Simulation:
    return Simulation(make_scene(level, seed, "3.0"))


@pytest.mark.parametrize("level", PAPER_LEVELS)
def test_the_bot_solves_every_mission_of_the_published_levels(level: str) -> None:
    for seed in (1, 2, 3, 29, 103, 270):
        now = start(level, seed)
        assert played(now, OmniBot(now)).succeeded, (level, seed)


@pytest.mark.slow
@pytest.mark.parametrize("level", PAPER_LEVELS)
def test_the_bot_solves_all_500_seeds(level: str) -> None:
    assert all(
        played(now, OmniBot(now)).succeeded
        for now in (start(level, seed) for seed in range(1, 501))
    )


@pytest.mark.parametrize(
    "level", [level for level in LEVELS if level not in (*PAPER_LEVELS, *STRICT)]
)
def test_the_bot_solves_other_levels_unless_they_are_impossible(level: str) -> None:
    now = start(level, 2)
    assert played(now, OmniBot(now)).succeeded or is_impossible(start(level, 2))


def test_a_key_behind_its_own_door_is_proved_out_of_reach() -> None:
    now = start("Unlock", 63)
    assert is_impossible(now)
    certified = Certificates(100).optimum(now)
    assert certified is not None
    assert (certified.actions, certified.means) == (
        (),
        "proved impossible by exact search",
    )
    assert OmniBot(now).suggest(now) is None


def test_a_mission_that_is_impossible_stays_so_at_every_turn() -> None:
    world = BabyAIEnvironment(BabyAIConfig(level="Unlock", search=100))
    world.reset(63)
    for action in ("left", "forward", "forward", "pickup", "right", "forward") * 3:
        optimum, told = world.optimum(), world.state().facts["optimum"]
        assert optimum is not None and isinstance(told, dict)
        assert (optimum.actions, optimum.value) == ((), -inf)
        assert told["least"] is told["most"] is None
        world.step(action)


def test_a_box_that_is_opened_puts_a_mission_out_of_reach() -> None:
    world = BabyAIEnvironment(BabyAIConfig(level="PutNextLocal", search=100))
    world.reset(12)
    assert world.task().objective == "put the grey box next to the grey key"
    action = OmniBot(world.now).suggest(world.now)
    while action != "pickup":
        assert action is not None
        world.step(action)
        action = OmniBot(world.now).suggest(world.now)
    world.step("toggle")
    for action in ("left", "left", "forward"):
        optimum = world.optimum()
        assert optimum is not None and optimum.value == -inf
        world.step(action)


def test_what_the_bot_solves_is_not_proved_impossible() -> None:
    for level in PAPER_LEVELS:
        for seed in range(5):
            now = start(level, seed)
            while not now.over and (action := OmniBot(now).suggest(now)):
                assert not is_impossible(now)
                now.act(action)
                break


def by_breadth(now: Simulation, deepest: int) -> int:
    """Actions to the end by trying everything, `FAR` where it takes more than
    `deepest`.
    """
    seen, border = {now.key}, deque([(now, 0)])
    while border:
        here, depth = border.popleft()
        for action in ACTIONS if depth < deepest else ():
            after = here.copy()
            after.act(action)
            if after.succeeded:
                return depth + 1
            if not after.over and after.key not in seen:
                seen.add(after.key)
                border.append((after, depth + 1))
    return FAR


@pytest.mark.parametrize(
    ("level", "seed"),
    [
        *(("GoToLocalS5N2", seed) for seed in range(6)),
        *(("PutNextS4N1", seed) for seed in range(6)),
        *(("PutNextLocalS5N3", seed) for seed in (1, 2, 4)),
        *(("OpenRedBlueDoors", seed) for seed in range(2)),
        *(("PickupLoc", seed) for seed in range(3)),
        *(("KeyCorridorS3R1", seed) for seed in range(3)),
    ],
)
def test_the_search_finds_what_trying_everything_finds(level: str, seed: int) -> None:
    now = start(level, seed)
    found = shortest(now, Bound(now), budget=20_000)
    assert found.actions is not None
    if len(found.actions) <= 9:
        assert by_breadth(now, deepest=len(found.actions)) == len(found.actions)
    for action in found.actions:
        now.act(action)
    assert now.succeeded


class Weaker(Bound):
    """Two thirds of the bound: true as long as the bound itself is not half as much too
    high.
    """

    def of(self, now: Simulation) -> int:
        return 0 if now.succeeded else max(1, 2 * super().of(now) // 3)


@pytest.mark.parametrize(
    "level",
    ["PutNextS5N1", "PutNextS5N2Carrying", "SynthS5R2", "GoToSeqS5R2", "UnlockPickup"],
)
def test_a_weaker_bound_finds_no_shorter_way(level: str) -> None:
    for seed in (1, 2, 3):
        now = start(level, seed)
        found, weaker = (
            shortest(now, Bound(now), budget=2000),
            shortest(now, Weaker(now), budget=2000),
        )
        if found.actions is not None and weaker.actions is not None:
            assert len(found.actions) == len(weaker.actions)


@pytest.mark.parametrize("level", PAPER_LEVELS)
def test_the_bound_never_exceeds_what_is_left(level: str) -> None:
    for seed in (4, 5):
        now = start(level, seed)
        found, bound = shortest(now, Bound(now), budget=1500), Bound(now)
        for place, action in enumerate(found.actions or ()):
            assert bound.of(now) <= len(found.actions or ()) - place
            now.act(action)


def test_all_optimal_actions_are_certified() -> None:
    now, certificates = start("PutNextLocalS5N3", 1), Certificates(5000)
    left = shortest(now, Bound(now), budget=5000).actions
    while left and not now.over:
        optimum = certificates.optimum(now)
        assert optimum is not None
        for action in ACTIONS:
            after = now.copy()
            after.act(action)
            rest = (
                0
                if after.succeeded
                else len(
                    shortest(after, Bound(after), budget=20_000).actions or "x" * FAR
                )
            )
            assert (action in optimum.actions) == (rest == len(left) - 1)
        now.act(optimum.actions[0])
        left = left[1:]
    assert now.succeeded


def test_a_search_that_is_too_short_certifies_nothing() -> None:
    now = start("BossLevel", 3)
    assert Certificates(3).optimum(now) is None
    assert Certificates(3).bounds(now) is not None
    assert Certificates(0).optimum(now) is None
    assert Certificates(0).bounds(now) is None


def test_the_bot_finds_its_way_after_any_action() -> None:
    for seed in range(4):
        now = start("SynthSeq", seed)
        bot = OmniBot(now)
        while not now.over and now.n_steps < now.scene.max_steps:
            stray = now.n_steps % 3 == 1
            now.act(
                ACTIONS[(7 * now.n_steps + seed) % 5]
                if stray
                else bot.suggest(now) or "left"
            )
        assert now.succeeded


def test_given_subgoals_are_followed_and_additions_counted() -> None:
    now = start("GoToObj", 1)
    target = next(cell for cell, inside in enumerate(now.cells) if inside >= 0)
    bot = OmniBot(now, [Subgoal("GoNextTo", cell=target)])
    assert played(now, bot).succeeded
    assert bot.n_added == 0
    useless = start("GoToObj", 1)
    bot = OmniBot(
        useless, [Subgoal("Drop"), Subgoal("Open"), Subgoal("Close"), Subgoal("Pickup")]
    )
    assert bot.suggest(useless) is None
    assert not bot.stack


def test_subgoals_are_written_and_read() -> None:
    scene = make_scene("GoToObj", 1, "3.0")
    for line in (
        "(GoNextToSubgoal, (3, 4))",
        "(PickupSubgoal)",
        "(DropSubgoal)",
        "(OpenSubgoal)",
        "(CloseSubgoal)",
    ):
        assert write(parse(line, scene), scene) == line
    for line in (
        "GoNextToSubgoal((3, 4))",
        "GoNextToSubgoal, (3,4)",
        "(GoNextToSubgoal: (3, 4))",
    ):
        assert parse(line, scene).cell == scene.cell(3, 4)
    for line in (
        "",
        "(ExploreSubgoal)",
        "(GoNextToSubgoal)",
        "(PickupSubgoal, (1, 1))",
        "x" * 10**6,
    ):
        with pytest.raises(ValueError, match="wanted"):
            parse(line, scene)
    with pytest.raises(
        ValueError, match=r"wanted a place in a grid of 8x8, got \(3, 40\)"
    ):
        parse("(GoNextToSubgoal, (3, 40))", scene)
