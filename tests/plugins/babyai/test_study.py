"""The study holds any agent against the printed numbers; the bot's competences have the
order that they should.
"""

from itertools import combinations, product
from pathlib import Path

import pytest

from gde import Choice, Plan, evaluate
from gde.data.evidence import Evidence
from gde.parts.reproduction import Run
from gde.studies.reproducing import Request, foresee, reproduce
from gde.studies.study import Study
from gde_plugins.babyai.config import StudyConfig
from gde_plugins.babyai.study.babybench import (
    PROMPTER,
    BabyBenchStudy,
    find,
)
from gde_plugins.babyai.study.published import MODELS, TABLE_3, TABLE_4, TABLE_6
from gde_plugins.babyai.worlds.levels import COMPETENCIES, DIFFICULTIES, PAPER_LEVELS


def test_at_full_scale_the_plans_are_the_published_ones() -> None:
    plans = BabyBenchStudy(StudyConfig()).plans(1.0, Choice(name="gpt-oss"))
    assert [
        plans[name].episodes for name in ("predict", "plan", "decompose", "format-json")
    ] == [20, 5, 20, 20]
    assert [
        len(list(plans[name].environment.config["level"]))
        for name in ("predict", "plan")
    ] == [16, 16]  # type: ignore[arg-type]
    asked = BabyBenchStudy(StudyConfig()).plans(0.01, Choice(name=PROMPTER))
    assert {name for name in asked if name.startswith("asked")} == {
        "asked-zero_shot",
        "asked-few_shot",
        "asked-cot",
        "asked-tot",
    }
    assert {plan.episodes for plan in asked.values()} == {1}


def right(share: float, n_levels: int) -> float:
    """Questions that were answered rightly, 20 a level."""
    return share / 100 * 20 * n_levels


def near(number: float) -> bool:
    """Whether a number of questions is whole, as far as printed shares tell."""
    return abs(number - round(number)) < 0.02


def test_the_classes_are_the_only_ones_in_order_that_the_printed_shares_allow() -> None:
    """One model answered every question, so that its shares count them; rooms and mazes
    are all levels.
    """
    claude = MODELS.index("Claude-3.7-Sonnet")
    shares = [TABLE_3[name][claude] for name in DIFFICULTIES]
    total = right(TABLE_4["room"][claude], 6) + right(TABLE_4["maze"][claude], 10)
    allowed = [
        sizes
        for sizes in product(range(1, 14), repeat=4)
        if sum(sizes) == 16
        and all(
            near(right(share, size)) for share, size in zip(shares, sizes, strict=True)
        )
        and abs(
            sum(right(share, size) for share, size in zip(shares, sizes, strict=True))
            - total
        )
        < 0.5
    ]
    assert allowed == [tuple(map(len, DIFFICULTIES.values()))]
    assert sum(map(len, DIFFICULTIES.values())) == len(PAPER_LEVELS)


def test_competencies_fit_the_printed_shares_but_for_two() -> None:
    claude = MODELS.index("Claude-3.7-Sonnet")
    whole = {
        name
        for name, shares in TABLE_4.items()
        if near(right(shares[claude], len(COMPETENCIES[name])))
    }
    assert {*TABLE_4} - whole == {"go to", "location"}


def rightly_answered() -> dict[str, int]:
    """Of 20, by level, for the model that answered every question: what the other eight
    competencies and the classes leave to be solved for. Of three pairs of levels only
    the sum follows, which stands with the first.
    """
    claude = MODELS.index("Claude-3.7-Sonnet")
    easy, moderate, hard, very_hard = (
        round(right(TABLE_3[name][claude], len(levels)))
        for name, levels in DIFFICULTIES.items()
    )
    of = {
        name: round(right(shares[claude], len(COMPETENCIES[name])))
        for name, shares in TABLE_4.items()
    }
    found = {
        "GoToObj": easy,
        "Open": of["open"] - of["unlocking"],
        "PutNextLocal": of["put"] - of["unlocking"],
    }
    found["UnblockPickup"] = of["unblocking"] - of["unlocking"]
    found["Synth"] = hard - found["Open"] - found["UnblockPickup"]
    found["GoToSeq"] = very_hard - (of["unlocking"] - found["Synth"])
    found["SynthSeq"] = of["sequence"] - found["GoToSeq"]
    found["SynthLoc"] = of["unlocking"] - found["Synth"] - found["SynthSeq"]
    # Three rooms are left with 60 of 60.
    assert of["room"] - easy - found["PutNextLocal"] == 60
    found |= dict.fromkeys(("GoToRedBall", "GoToLocal", "PickupLoc"), 20)
    found["Pickup"] = (
        of["pick up"] - found["UnblockPickup"] - of["unlocking"] - found["PickupLoc"]
    )
    elsewhere = (
        sum(found[name] for name in ("Pickup", "UnblockPickup", "Open", "GoToSeq"))
        + of["unlocking"]
    )
    found["GoToObjMaze"] = of["maze"] - elsewhere
    assert moderate == sum(found.get(name, 0) for name in DIFFICULTIES["moderate"])
    return found


def test_the_printed_shares_are_those_of_whole_questions_level_by_level() -> None:
    found = rightly_answered()
    pairs = {"GoToObj": 39, "GoToObjMaze": 35, "SynthSeq": 30}
    assert {name: found.pop(name) for name in pairs} == pairs
    assert len(found) == 10
    assert all(17 <= each <= 20 for each in found.values())


@pytest.mark.parametrize(
    ("name", "certain", "n_sets", "sizes"),
    [
        ("location", ("PickupLoc", "SynthLoc", "SynthSeq", "BossLevel"), 122, {7, 14}),
        ("go to", ("GoToSeq", "Synth", "SynthLoc", "SynthSeq", "BossLevel"), 12, {8}),
    ],
)
def test_too_many_sets_of_levels_have_the_two_other_shares_to_tell_which_was_counted(
    name: str, certain: tuple[str, ...], n_sets: int, sizes: set[int]
) -> None:
    """All sets with the levels that ask for it for certain, whatever the splits of the
    pairs of levels.
    """
    known, share = rightly_answered(), TABLE_4[name][MODELS.index("Claude-3.7-Sonnet")]
    scores = [
        {
            **known,
            "GoToObj": a,
            "GoToRedBallGrey": 39 - a,
            "GoToObjMaze": b,
            "GoTo": 35 - b,
            "SynthSeq": 15,
            "BossLevel": 15,
        }
        for a, b in product((19, 20), range(15, 21))
    ]
    others = [
        level
        for level in (COMPETENCIES[name] if name == "go to" else PAPER_LEVELS)
        if level not in certain
    ]
    sets = [
        (*certain, *more)
        for n in range(len(others) + 1)
        for more in combinations(others, n)
    ]
    fitting = [
        each
        for each in sets
        if any(
            abs(5 * sum(score[level] for level in each) / len(each) - share) < 0.005
            for score in scores
        )
    ]
    assert len(fitting) == n_sets
    assert {*map(len, fitting)} == sizes


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """One seed of twenty, answered without a mistake."""
    agent = Choice(name="babyai-scripted")
    return reproduce(
        Request(name="babybench", scale=0.05, agent=agent),
        tmp_path_factory.mktemp("study") / "out",
    )


def test_every_row_has_a_number_or_a_reason(study: Study) -> None:
    assert study.status == "ok"
    missing = {
        row.quantity: row.ours.reason for row in study.rows if row.ours.value is None
    }
    assert missing == {"Manhattan distance, wrong answers": "no answer was wrong"}
    assert all(row.source.startswith("Choukrani et al. (2025), ") for row in study.rows)


def test_the_perfect_answerer_is_perfect_beside_the_seven_models(study: Study) -> None:
    beside = [row for row in study.rows if MODELS[0] in row.others]
    assert len(beside) == len(TABLE_3) + len(TABLE_4)
    names = [*MODELS, "babyai-blind"]
    assert all(row.ours.value == 1 and [*row.others] == names for row in beside)


def test_other_agents_answer_the_same_questions_beside(study: Study) -> None:
    by_quantity = {row.quantity: row for row in study.rows if "(figure" in row.table}
    assert len(by_quantity) > 10
    solved = by_quantity["success rate"]
    blind = solved.others["babyai-blind"]
    assert solved.ours.n == blind.n
    assert 0 < (blind.value or 0) < (solved.ours.value or 0)


def test_formats_are_measured_over_the_worlds_of_both_levels(study: Study) -> None:
    formats = [row for row in study.rows if "table 6" in row.table]
    assert [row.quantity for row in formats if row.paper and row.paper < 1] == [
        f"{form}: success rate" for form in TABLE_6
    ]
    assert all(row.ours.clusters == 2 for row in formats)


def test_models_beside_are_asked_by_the_same_agent() -> None:
    agent = Choice(name="babyai-prompter", config={"prompting": "cot"})
    config = StudyConfig(agents=(), models=("openai:m@http://127.0.0.1:1/v1",))
    plans = BabyBenchStudy(config).plans(0.05, agent)
    other = plans["plan-openai-m-http-127.0.0.1-1-v1"]
    assert other.environment == plans["plan"].environment
    assert other.agent.config == {"prompting": "cot", "model": config.models[0]}


def test_the_prompter_answers_unless_another_agent_is_named() -> None:
    found = foresee(Request(name="babybench", scale=0.05))
    assert "asked-tot" in {each.plan for each in found}


def test_tables_say_by_which_protocol_answers_were_read(study: Study) -> None:
    assert all(row.table.endswith("unusable answers as 0") for row in study.rows)
    agent = Choice(name="babyai-scripted")
    runs = {}
    for name, result in study.results.items():
        runs[name] = Run(result=result, evidence=Evidence(trajectories=()))
    published = BabyBenchStudy(StudyConfig(protocol="published"))
    assert published.plans(0.05, agent)
    rows = published.compare(runs)
    assert all(row.table.endswith("unusable answers left out") for row in rows)
    read = [row for row in rows if row.quantity == "success rate"]
    assert {row.ours.value for row in read} == {1.0}
    # Nothing that was read leniently stands under that heading.
    unread = {row.quantity: row.ours.reason for row in rows if row.ours.value is None}
    assert {*unread.values()} == {"not in the published harness"}
    assert "success rate, position alone (equation 1)" in unread
    assert "answers that cannot be used" in unread


def test_a_number_that_is_not_there_says_so() -> None:
    assert find([], "plan.success", size="Small").reason == "not in the run"


def test_less_able_bots_do_worse(tmp_path: Path) -> None:
    settings = ({}, {"noise": 0.3}, {"noise": 0.9})
    found = []
    for place, config in enumerate(settings):
        environment = Choice(
            name="babyai", config={"level": "PickupLoc", "search": 500}
        )
        plan = Plan(
            environment=environment,
            agent=Choice(name="omnibot", config=config),
            episodes=8,
        )
        result = evaluate(plan, tmp_path / str(place))
        assert result.status == "ok"
        found.append({one.name: one.value for one in result.measurements})
    able, noisy, noisier = found
    assert able["success"] == 1
    assert (
        (able["accuracy"] or 0) > (noisy["accuracy"] or 0) > (noisier["accuracy"] or 0)
    )
    assert (able["length"] or 0) < (noisy["length"] or 0) < (noisier["length"] or 0)
