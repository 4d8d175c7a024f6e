"""The facts of answers, counted by hand, and the numbers over them."""

import random
from collections.abc import Mapping
from zlib import crc32

import pytest

from gde.data.evidence import Evidence
from gde.data.json import Json
from gde.data.observation import State, World
from gde.data.trajectory import Trajectory
from gde.numerics.by_world import Quantity, measured
from gde.testing.episodes import episode_of
from gde_plugins.babyai.scoring.metrics import decompose, plan, predict
from gde_plugins.babyai.scoring.questions import Questions
from gde_plugins.babyai.tasks.blind import ANSWERS
from gde_plugins.babyai.tasks.parsing import REASONS
from gde_plugins.babyai.worlds.levels import LEVELS

TASKS = {"predict": predict, "plan": plan, "decompose": decompose}
UNUSED = dict.fromkeys(("no_answer", *REASONS), 0)
Scores = Mapping[str, Json]


def answer(
    task: str,
    scores: Scores | None,
    world: int = 0,
    repeat: int = 0,
    blind: Mapping[str, Scores] | None = None,
    level: str = "GoTo",
    base: str = "",
    **facts: Json,
) -> Trajectory:
    of_world = {"task": task, "level": level, "blind": blind or {}}
    return episode_of(
        [],
        world=World(id=f"world{world}", base=base, facts={**of_world, **facts}),
        index=world,
        repeat=repeat,
        ending="terminated",
        final_state=State(facts={"scores": scores}),
    )


def unusable(task: str, reason: str = "") -> dict[str, float]:
    """The facts of an answer that is unusable for a reason, or usable."""
    reasons = {**UNUSED, reason: 1} if reason else UNUSED
    found = {f"{task}.unusable.{name}": value for name, value in reasons.items()}
    return {f"{task}.unusable": float(bool(reason)), **found}


def test_the_facts_of_a_predict_answer_are_what_one_counts() -> None:
    near = {"score": 0.0, "position": 0.0, "distance": 2}
    right = {"score": 1.0, "position": 1.0, "distance": 0}
    scores = {**near, "reading": "ok", "published": None}
    blind = {"counter": right}
    one = answer("predict", scores, blind=blind, change="wall")
    assert predict.facts(one, None) == {
        "predict.success": 0,
        "predict.success.usable": 0,
        "predict.success.published": None,
        "predict.position": 0,
        "predict.distance": 2,
        "predict.distance_wrong": 2,
        "predict.distance_published": None,
        **unusable("predict"),
        "predict.success.blind.counter": 1,
        "level": LEVELS.index("GoTo"),
        "sa": None,
        "right": 0,
    }


def test_the_facts_of_a_plan_are_what_one_counts() -> None:
    best = {
        "score": 1.0,
        "efficiency": 0.8,
        "optimality": 0.5,
        "charged": 0.4,
        "distance": 0,
    }
    none = {**dict.fromkeys(best, 0.0), "distance": None}
    scores = {**best, "reading": "ok", "published": best}
    blind = {"counter": best, "random_walk": none}
    found = plan.facts(answer("plan", scores, blind=blind), None)
    assert found == {
        "plan.success": 1,
        "plan.charged": 0.4,
        "plan.success.usable": 1,
        "plan.success.published": 1,
        "plan.charged.usable": 0.4,
        "plan.efficiency": 0.8,
        "plan.efficiency_published": 0.8,
        "plan.efficiency_successful": 0.8,
        "plan.optimality": 0.5,
        "plan.distance": 0,
        **unusable("plan"),
        "plan.success.blind.counter": 1,
        "plan.success.blind.random_walk": 0,
        "plan.charged.blind.counter": 0.4,
        "plan.charged.blind.random_walk": 0,
        "level": LEVELS.index("GoTo"),
        "sa": None,
        "right": None,
    }


def test_no_answer_is_a_failure_but_has_none_of_what_its_world_lacks() -> None:
    unknown = {"score": 1.0, "charged": None}
    found = plan.facts(answer("plan", None, blind={"counter": unknown}), None)
    assert (found["plan.success"], found["plan.success.usable"]) == (0, None)
    assert found["plan.charged"] is None
    assert (found["plan.efficiency"], found["plan.optimality"]) == (0, None)
    told = {name: value for name, value in found.items() if "unusable" in name}
    assert told == unusable("plan", "no_answer")


def test_the_facts_of_a_decomposition_are_what_one_counts() -> None:
    helped = {
        "score": 1.0,
        "precision": 0.0,
        "charged": 0.5,
        "aci": 0.25,
        "aci_defined": 0.0,
        "added": 4,
        "sa": 7,
    }
    scores = {**helped, "reading": "ok", "published": None}
    found = decompose.facts(answer("decompose", scores), None)
    rates = {
        "comprehension": 1,
        "precision": 0,
        "charged": 0.5,
        "aci": 0.25,
        "aci_defined": 0,
    }
    for way in ("", ".usable"):
        names = [f"decompose.{name}{way}" for name in rates]
        assert [found[name] for name in names] == [*rates.values()]
    assert found["decompose.comprehension.published"] is None
    assert (found["decompose.added"], found["sa"]) == (4, 7)


def test_an_episode_with_another_question_has_no_facts() -> None:
    found = predict.facts(answer("plan", {"score": 1.0}), None)
    assert set(found.values()) == {None}


def numbers(metric: Questions, *episodes: Trajectory) -> dict[str, float | None]:
    return {one.name: one.value for one in metric(Evidence(trajectories=episodes))}


def of_worlds(
    metric: Questions, *episodes: Trajectory
) -> dict[Quantity, dict[str, float]]:
    places = [one.world.id for one in episodes]
    return measured([("it", metric)], Evidence(trajectories=episodes), places)


def test_a_lead_is_over_the_baseline_that_is_best_in_all() -> None:
    def blind(counter: float, walk: float) -> dict[str, Scores]:
        return {"counter": {"score": counter}, "random_walk": {"score": walk}}

    episodes = (
        answer("plan", {"score": 1.0}, 0, blind=blind(0.0, 1.0)),
        answer("plan", {"score": 1.0}, 1, blind=blind(1.0, 0.0)),
        answer("plan", {"score": 0.0}, 2, blind=blind(1.0, 0.0)),
    )
    lead = "plan.success.above_blind"
    assert numbers(plan, *episodes)[lead] == 0  # 2 of 3, as the counter
    # In a world alone, its best baseline counts.
    found = of_worlds(plan, *episodes)[Quantity(name=lead, unit="")]
    assert found == {"world0": 0, "world1": 0, "world2": -1}


def test_both_answers_to_a_pair_must_be_right() -> None:
    episodes = [
        answer("predict", {"score": score}, number, base=base, change="wall")
        for number, (base, score) in enumerate(
            [("a", 1.0), ("a", 1.0), ("b", 1.0), ("b", 0.0), ("alone", 1.0)]
        )
    ]
    assert numbers(predict, *episodes)["predict.pairs"] == 0.5
    plain = numbers(predict, answer("predict", {"score": 1.0}))
    assert plain["predict.pairs"] is None


def drawn(task: str, rng: random.Random) -> dict[str, Json]:
    """Scores of any answer."""
    names = ("score", "position", "precision", "aci", "aci_defined", "charged")
    scores: dict[str, Json] = {name: float(rng.random() < 0.5) for name in names}
    counted = {"efficiency": rng.random(), "added": rng.randint(0, 9)}
    return {**scores, **counted, "distance": rng.choice([None, 1, 4])}


@pytest.mark.parametrize("task", TASKS)
def test_the_numbers_of_worlds_are_those_of_runs_of_one_world(task: str) -> None:
    rng = random.Random(task)
    metric = TASKS[task]
    (kind,) = (each for each in ANSWERS if each.__name__.lower().startswith(task))
    episodes = []
    for number in range(12):
        world, repeat = divmod(number, 2)
        readings = {way: drawn(task, rng) for way in ("published",)}
        given = {**drawn(task, rng), **readings, "reading": rng.choice(["ok", "empty"])}
        blind = {name: drawn(task, rng) for name in ANSWERS[kind]}
        one = answer(task, given if number else None, world, repeat, blind=blind)
        episodes.append(one)
    found = of_worlds(metric, *episodes)
    assert len(found) > 10
    for world in range(6):
        alone = numbers(metric, *episodes[2 * world : 2 * world + 2])
        values = {each.name: found[each].get(f"world{world}") for each in found}
        assert {name: alone[name] for name in values} == values


def test_the_places_of_levels_stay_as_runs_keep_them() -> None:
    """In another order old runs would be broken down wrongly; more may follow."""
    assert crc32(" ".join(LEVELS[:112]).encode()) == 1752849176
