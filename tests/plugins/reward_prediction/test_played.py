"""Pairs of the failures that an agent made in a run."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from gde.cli.main import build_app
from gde.data.observation import Observation
from gde.data.plan import Choice, Plan
from gde.data.trajectory import Decision
from gde.errors import GdeError
from gde.runs.evaluating import evaluate
from gde.stages.evidence import load_evidence
from gde_plugins.reward_prediction import played
from gde_plugins.reward_prediction.config import Recipe
from gde_plugins.reward_prediction.domains import find_domain
from gde_plugins.reward_prediction.files import find_records
from gde_plugins.reward_prediction.play import Unsuitable

MCTS = Choice(name="mcts", config={"budget": 4})


class Shy:
    """Answers in every other turn."""

    def begin(self, _: object) -> None:
        self.turn = 0

    async def act(self, observation: Observation) -> Decision:
        self.turn += 1
        if self.turn % 2:
            return Decision.unusable("empty", "nothing")
        assert observation.actions
        return Decision.act(observation.actions[0])


def build(*words: str | Path) -> Result:
    return CliRunner().invoke(build_app(), ["rewardbench", "build", *map(str, words)])


def run(folder: Path, agent: Choice = MCTS, domain: str = "blocksworld") -> Path:
    plan = Plan(
        environment=Choice(name=domain), agent=agent, metrics=("success",), episodes=6
    )
    evaluate(plan, folder)
    return folder


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(tmp_path_factory.mktemp("played") / "searched")


def test_every_failed_episode_is_paired_with_the_demonstration_of_its_world(
    searched: Path, tmp_path: Path
) -> None:
    out = tmp_path / "bench"
    done = build("--failures", searched, "--out", out, "--json")
    assert done.exit_code == 0, done.output

    episodes = load_evidence(searched).trajectories
    failed = [one for one in episodes if not one.succeeded]
    assert len(failed) > 0
    records = [*find_records(out / "blocksworld")]
    negatives = [one.read() for one in records if one.side == "negative"]
    positives = [one.read() for one in records if one.side == "positive"]
    assert len(negatives) == len(positives) == len(failed)
    for episode, negative, positive in zip(failed, negatives, positives, strict=True):
        taken = [turn.decision.action for turn in episode.turns]
        assert [*negative.actions] == taken[: len(negative.steps)]
        assert len(negative.steps) == min(len(taken), len(positive.steps))
        assert negative.start == positive.start == episode.turns[0].observation.text
        assert negative.world["failure"] == "mcts"
        # The truth is the share of the way by the certified distance before each turn.
        distances = [-turn.value for turn in episode.turns if turn.value is not None]
        truth = [max(-1.0, 1 - each / distances[0]) for each in distances[1:]]
        found = [step.shaped for step in negative.steps]
        assert found[: len(truth)] == pytest.approx(truth[: len(found)])
        assert positive.success == 1 and negative.steps[-1].raw < 1


def test_a_build_of_a_run_resumes_and_is_not_mixed_with_another(
    searched: Path, tmp_path: Path
) -> None:
    out = tmp_path / "bench"
    words = ("--failures", searched, "--out", out)
    assert build(*words).exit_code == 0
    kept = {path: path.read_bytes() for path in out.rglob("*.json")}
    task = next(out.rglob("negative_0.json"))
    task.unlink()
    assert build(*words, "--workers", "2").exit_code == 0
    assert {path: path.read_bytes() for path in out.rglob("*.json")} == kept

    other = run(tmp_path / "random", Choice(name="random"))
    done = build("--failures", other, "--out", out)
    assert isinstance(done.exception, GdeError)
    assert "recipe.json has other values of run" in str(done.exception)


def test_rewards_are_compared_on_the_pairs(searched: Path, tmp_path: Path) -> None:
    assert build("--failures", searched, "--out", tmp_path / "bench").exit_code == 0
    plan = Plan(
        environment=Choice(
            name="rewardbench", config={"data": str(tmp_path / "bench")}
        ),
        agent="random",
        rewards=("oracle", "clock"),
        metrics=("epic",),
        episodes=20,
    )
    measured = evaluate(plan, tmp_path / "run").measurements
    epic = {one.where["reward"]: one.value for one in measured if one.name == "epic"}
    assert epic["oracle"] == pytest.approx(0, abs=1e-6)
    assert epic["clock"] is not None and epic["clock"] > 0.1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--domain", "webshop"), "leave out --domain, --set, --share"),
        (("--share", "0.5"), "leave out --domain, --set, --share"),
        (("--train", "5"), "leave out --domain, --set, --share"),
    ],
)
def test_settings_of_the_run_are_not_chosen_again(
    words: tuple[str, ...], said: str, searched: Path, tmp_path: Path
) -> None:
    done = build("--failures", searched, "--out", tmp_path / "bench", *words)
    assert isinstance(done.exception, GdeError) and said in str(done.exception)
    assert done.exception.exit_code == 2
    assert not (tmp_path / "bench").exists()


def test_a_run_without_failures_or_of_another_world_is_refused(tmp_path: Path) -> None:
    expert = run(tmp_path / "expert", Choice(name="expert"))
    grid = run(tmp_path / "grid", Choice(name="random"), "grid")
    for folder, said in (
        (expert, "has no failed episode"),
        (grid, "got one in grid"),
        (tmp_path / "nowhere", "wanted the folder of a run"),
    ):
        done = build("--failures", folder, "--out", tmp_path / "bench")
        assert isinstance(done.exception, GdeError) and said in str(done.exception)
    assert not (tmp_path / "bench").exists()


def test_a_record_that_the_world_does_not_bear_out_is_refused(searched: Path) -> None:
    maker = played.PlayedMaker(find_domain("blocksworld"), Recipe(), searched)
    first = maker.failed[0][0]
    forged = replace(first, turns=first.turns[:1] + first.turns[2:])
    maker.failed[0][0] = forged
    with pytest.raises(Unsuitable, match="goes otherwise than it was recorded"):
        maker.pair(0)


def test_answers_that_are_no_action_are_left_out(tmp_path: Path) -> None:
    plan = Plan(
        environment=Choice(name="webshop"), agent=Shy, metrics=("success",), episodes=2
    )
    result = evaluate(plan, tmp_path / "shy")
    done = build("--failures", result.run, "--out", tmp_path / "bench")
    assert done.exit_code == 0, done.output
    for file in (tmp_path / "bench").rglob("negative_0.json"):
        steps = json.loads(file.read_text(encoding="utf-8"))["trajectory"]
        assert steps and all(step["action"] for step in steps)
