"""Recorded trajectories as worlds, and reward models held against them."""

import json
from pathlib import Path

import pytest

from gde.data.plan import Choice, Plan
from gde.data.result import Result
from gde.errors import GdeError
from gde.runs.evaluating import evaluate
from gde.testing import check_environment, check_reproduction
from gde.testing.context import PlainContext
from gde_plugins.reward_prediction.config import RewardBenchConfig, StudyConfig
from gde_plugins.reward_prediction.environment import END, RewardBench
from gde_plugins.reward_prediction.files import Pair, Record, Step, write_pair
from gde_plugins.reward_prediction.plugin import gde_environments
from gde_plugins.reward_prediction.study import RewardPredictionStudy


def record(shaped: list[float], raw: list[float]) -> Record:
    steps = tuple(
        Step(
            action=f"act {i}", observation=f"seen {i}", raw=r, shaped=s, is_expert=True
        )
        for i, (s, r) in enumerate(zip(shaped, raw, strict=True))
    )
    return Record(goal="reach it", start="begin", steps=steps)


def data(folder: Path, n_tasks: int = 3) -> Path:
    positive = record([1 / 4, 2 / 4, 3 / 4, 1], [0, 0, 0, 1])
    for index in range(n_tasks):
        pair = Pair(
            domain="blocksworld",
            index=index,
            positive=positive,
            negatives=(record([0] * 4, [0] * 4),),
        )
        write_pair(pair, folder / "blocksworld" / pair.name)
    return folder


def test_made_and_read_trajectories_keep_every_promise(tmp_path: Path) -> None:
    (offer,) = gde_environments()
    check_environment(
        lambda: RewardBench(RewardBenchConfig(share=0.02)), gives=offer.gives
    )
    check_environment(
        lambda: RewardBench(RewardBenchConfig(data=data(tmp_path))),
        gives=offer.gives,
    )


def test_a_record_is_replayed_with_its_true_rewards(tmp_path: Path) -> None:
    world = RewardBench(RewardBenchConfig(data=data(tmp_path)))
    place = next(i for i, name in enumerate(world.worlds()) if "positive" in name)
    shown, seen, rewards = world.reset(place), list[str](), list[object]()
    assert (world.task().objective, world.task().horizon) == ("reach it", 4)
    assert (world.world().facts["initial"], world.world().facts["first"]) == (
        "begin",
        "act 0",
    )
    while True:
        seen.append(shown.text)
        rewards.append(world.state().facts["reward"])
        (action,) = shown.actions or ()
        outcome = world.step(action)
        shown = outcome.observation
        if outcome.terminated:
            break
    assert seen == [f"seen {i}" for i in range(4)]
    assert rewards == [1 / 4, 2 / 4, 3 / 4, 1]
    assert (action, outcome.success) == (END, 1.0)


def test_the_sides_of_a_task_are_one_cluster() -> None:
    world = RewardBench(RewardBenchConfig(share=0.01))
    names, clusters = world.worlds(), list[str]()
    for place in range(len(names)):
        world.reset(place)
        clusters.append(world.world().cluster)
    assert len(names) == 6
    assert clusters[::2] == clusters[1::2]
    assert len({*clusters}) == 3


def judged(folder: Path, out: Path, episodes: int = 100) -> Result:
    plan = Plan(
        environment=Choice(name="rewardbench", config={"data": str(folder)}),
        agent=Choice(name="random"),
        rewards=("monotonic", "constant", "oracle"),  # type: ignore[arg-type]
        metrics=("epic",),  # type: ignore[arg-type]
        episodes=episodes,
    )
    return evaluate(plan, out)


def test_distances_are_those_that_follow_from_the_records(tmp_path: Path) -> None:
    result = judged(data(tmp_path / "data"), tmp_path / "run")
    found = {
        one.where["reward"]: one for one in result.measurements if one.name == "epic"
    }
    # Rising to 1 in 4 steps beside as many zeros: r = sqrt(v / (2 v + m^2)) with mean m
    # and variance v of t / T.
    m, v = 0.625, 0.078125
    assert found["monotonic"].value == pytest.approx(
        ((1 - (v / (2 * v + m**2)) ** 0.5) / 2) ** 0.5
    )
    assert found["constant"].value == pytest.approx(0.5**0.5)
    assert found["oracle"].value == 0
    assert [one.n for one in found.values()] == [3, 3, 3]


def test_episodes_count_tasks_of_which_each_is_whole(tmp_path: Path) -> None:
    result = judged(data(tmp_path / "data", 6), tmp_path / "run", episodes=2)
    assert result.subject.episodes == 4
    assert {one.n for one in result.measurements if one.name == "epic"} == {2}


def test_a_task_with_one_side_is_refused_before_anything_is_asked(
    tmp_path: Path,
) -> None:
    folder = data(tmp_path / "data", 4)
    (folder / "blocksworld" / "blocksworld-0001" / "negative_0.json").unlink()
    with pytest.raises(GdeError, match="blocksworld-0001 has nothing but a positive"):
        judged(folder, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_task_with_a_broken_file_is_counted(tmp_path: Path) -> None:
    folder = data(tmp_path / "data", 4)
    (folder / "blocksworld" / "blocksworld-0002" / "negative_0.json").write_text(
        "{", encoding="utf-8"
    )
    result = judged(folder, tmp_path / "run")
    found = {(one.name, one.where.get("reward")): one for one in result.measurements}
    assert result.status == "partial"
    assert "negative_0.json" in result.failures[0].reason
    assert found["epic", "monotonic"].n == 3
    assert found["epic.one_sided", "monotonic"].value == 0.25


def test_what_cannot_be_had_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GdeError, match="unknown domain 'blockworld'"):
        RewardBench(RewardBenchConfig(domain="blockworld"))  # type: ignore[arg-type]
    with pytest.raises(
        GdeError, match=r"env.data: wanted a folder with TASK/positive.json"
    ):
        RewardBench(RewardBenchConfig(data=tmp_path))
    # As empty as one that is not there.
    (tmp_path / "webshop").mkdir()
    with pytest.raises(
        GdeError,
        match=r"no domain is available: domain webshop: no TASK/positive.json in",
    ):
        RewardPredictionStudy(
            StudyConfig(data=str(tmp_path), domains="webshop"), PlainContext()
        )


def test_the_study_names_what_it_lacks(tmp_path: Path) -> None:
    def make() -> RewardPredictionStudy:
        return RewardPredictionStudy(
            StudyConfig(data=str(data(tmp_path))), PlainContext()
        )

    check_reproduction(make)
    (plan,) = make().plans(1.0, Choice(name="gpt-oss")).values()
    assert plan.environment.config["domain"] == ["blocksworld"]


def test_the_sides_of_a_task_are_told_by_the_names_of_the_files(tmp_path: Path) -> None:
    """Whatever the environment's own rewards are: some were released on other scales,
    or never reach 1.
    """
    folder = data(tmp_path / "data")
    for file in folder.rglob("*.json"):
        told = json.loads(file.read_text())
        for step in told["trajectory"]:
            step["reward"]["raw"] *= 0.9
        file.write_text(json.dumps(told))
    result = judged(folder, tmp_path / "run")
    found = {
        one.name: one
        for one in result.measurements
        if one.where == {"reward": "oracle"}
    }
    assert (found["epic"].value, found["epic"].n) == (0, 3)


def test_what_is_no_file_is_an_episode_that_failed(tmp_path: Path) -> None:
    folder = data(tmp_path / "data")
    place = folder / "blocksworld" / "blocksworld-0001" / "positive.json"
    place.unlink()
    place.mkdir()
    result = judged(folder, tmp_path / "run")
    assert any("Is a directory" in one.reason for one in result.failures)
    (found,) = (
        one
        for one in result.measurements
        if one.name == "epic" and one.where == {"reward": "oracle"}
    )
    assert found.n == 2


def test_a_share_of_a_folder_is_its_first_tasks(tmp_path: Path) -> None:
    folder = data(tmp_path)
    some, all_ = (
        RewardBench(RewardBenchConfig(data=folder, share=share)).worlds()
        for share in (0.5, 1)
    )
    assert [name.split()[:2] for name in some] == [
        [f"blocksworld-000{task}", side]
        for task in (0, 1)
        for side in ("negative_0", "positive")
    ]
    assert [*some] == [*all_][:4] and len(all_) == 6
    with pytest.raises(
        GdeError,
        match=r"env\.data: wanted a folder with TASK.*, got none in .*nowhere.blocksworld",
    ):
        RewardBench(RewardBenchConfig(data=tmp_path / "nowhere"))
