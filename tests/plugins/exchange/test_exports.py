"""What is written for other tools is what their packages read."""

import json
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from whole_plan import whole_plan

import gde
from gde import (
    ChatRequest,
    Choice,
    Decision,
    Message,
    NoConfig,
    Observation,
    Offer,
    Plan,
    episodes_frame,
    evaluate,
    load_evidence,
    turns_frame,
)
from gde.errors import ConfigError, GdeError, MissingExtra
from gde.parts.agent import Brief
from gde.parts.language_model import LanguageModel
from gde.request.catalogue import Catalogue, load_plugins
from gde.runs.conversations import conversations
from gde.runs.exporting import export
from gde.runs.plain import read_trajectory
from gde_plugins.exchange.exports import FILE_FORMS, export_file

EPISODES = 6
WHOLE = ("gde.testing.plugin", "odd_parts")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exports") / "run"
    catalogue = Catalogue(load_plugins(modules=("gde.testing.plugin",)))
    corridor = Choice(name="corridor", config={"length": 5})
    evaluate(
        Plan(
            environment=corridor,
            agent="asking",
            metrics=["success"],
            episodes=EPISODES,
        ),
        folder,
        catalogue,
    )
    return folder


def lines(run: Path, form: Any) -> list[dict[str, Any]]:
    text = StringIO()
    n = export(run, form, text)
    found = [json.loads(line) for line in text.getvalue().splitlines()]
    assert len(found) == n
    return found


def test_jsonl_gives_the_trajectories_back(run: Path) -> None:
    assert [*map(read_trajectory, lines(run, "jsonl"))] == [
        *load_evidence(run).trajectories
    ]


@pytest.mark.parametrize(
    "broken",
    [{}, {"key": 3}, {"seed": 1, "labels": {}, "horizon": 1, "ending": "horizon"}],
)
def test_what_is_no_trajectory_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(GdeError, match="wanted a trajectory as `gde export` writes it"):
        read_trajectory(broken)


RULES = Message(role="system", content="Go right.")


@dataclass
class Told:
    """Sends its rules every turn, and what was said before if it has a memory."""

    model: LanguageModel
    memory: int

    def begin(self, brief: Brief) -> None:
        self.seed = brief.seed
        self.past: list[Message] = []

    async def act(self, observation: Observation) -> Decision:
        asked = Message(role="user", content=f"Now: {observation.text}")
        past = self.past[-2 * self.memory :] if self.memory else []
        request = ChatRequest(messages=(RULES, *past, asked), seed=self.seed)
        completion = await self.model.complete(request)
        self.past += [asked, Message(role="assistant", content=completion.text)]
        return Decision.act(completion.text, completion)


def told(memory: int, folder: Path, agent: "type[Told] | None" = None) -> Path:
    """A run of one episode with several turns."""
    offer = Offer(
        name="told",
        summary="",
        config=NoConfig,
        make=lambda _, context: (agent or Told)(context.model("planted"), memory),
    )
    plan = Plan(
        environment=Choice(name="corridor", config={"length": 9}),
        agent=Choice.of(offer),
        metrics=["success"],
        episodes=1,
        seed=1,
    )
    evaluate(plan, folder, Catalogue(load_plugins(modules=("gde.testing.plugin",))))
    return folder


def test_calls_that_decide_no_turn_are_exported(tmp_path: Path) -> None:
    """The thought of each turn comes before the question that decides it."""

    @dataclass
    class Thinks(Told):
        async def act(self, observation: Observation) -> Decision:
            prompt = (Message(role="user", content=f"Think: {observation.text}"),)
            await self.model.complete(ChatRequest(messages=prompt, seed=0))
            return await super().act(observation)

    run = told(0, tmp_path / "run", Thinks)
    (trajectory,) = load_evidence(run).trajectories
    n = len(trajectory.turns)
    calls = lines(run, "calls")
    assert [each["turn"] for each in calls] == [i for i in range(n) for _ in range(2)]
    assert {each["asked_by"] for each in calls} == {"0/0/0"}
    assert {each["model"] for each in calls} == {"planted"}
    thoughts = [each for each in calls if len(each["prompt"]) == 1]
    assert [each["prompt"][0]["content"] for each in thoughts] == [
        f"Think: {turn.observation.text}" for turn in trajectory.turns
    ]
    assert all(each["answer"] and each["prompt_tokens"] for each in calls)


def test_messages_are_as_they_were_sent_and_received(tmp_path: Path) -> None:
    run = told(0, tmp_path / "run")
    (trajectory,) = load_evidence(run).trajectories
    for row, turn in zip(lines(run, "messages"), trajectory.turns, strict=True):
        assert row["prompt"] == [
            {"role": "system", "content": "Go right."},
            {"role": "user", "content": f"Now: {turn.observation.text}"},
        ]
        assert row["observation"] == turn.observation.text
        assert (row["reasoning"], row["answer"]) == ("I see.", "RIGHT")


def test_an_agent_without_memory_has_a_conversation_each_turn(tmp_path: Path) -> None:
    run = told(0, tmp_path / "run")
    (trajectory,) = load_evidence(run).trajectories
    held = lines(run, "chat")
    assert [each["turn"] for each in held] == [*range(len(trajectory.turns))]
    for each, turn in zip(held, trajectory.turns, strict=True):
        roles = [message["role"] for message in each["messages"]]
        assert roles == ["system", "user", "assistant"]
        assert each["messages"][1]["content"] == f"Now: {turn.observation.text}"
        answer = {"role": "assistant", "content": "RIGHT", "reasoning": "I see."}
        assert each["messages"][2] == answer


def test_turns_that_were_sent_again_are_one_conversation(tmp_path: Path) -> None:
    run = told(9, tmp_path / "run")
    (trajectory,) = load_evidence(run).trajectories
    (held,) = lines(run, "chat")
    n = len(trajectory.turns)
    assert n > 2
    roles = [message["role"] for message in held["messages"]]
    assert roles == ["system"] + ["user", "assistant"] * n
    assert (held["turn"], held["success"]) == (n - 1, 1.0)


def test_a_memory_of_one_turn_leaves_a_conversation_for_each_later_turn(
    tmp_path: Path,
) -> None:
    run = told(1, tmp_path / "run")
    (trajectory,) = load_evidence(run).trajectories
    held = lines(run, "chat")
    assert [each["turn"] for each in held] == [*range(1, len(trajectory.turns))]
    assert {len(each["messages"]) for each in held} == {5}


def test_an_action_stands_for_the_answer_of_an_agent_without_a_model(
    tmp_path: Path,
) -> None:
    plan = Plan(
        environment=Choice(name="corridor", config={"length": 3}),
        agent="optimal",
        metrics=["success"],
        episodes=1,
    )
    run = tmp_path / "run"
    evaluate(plan, run, Catalogue(load_plugins(modules=("gde.testing.plugin",))))
    held = lines(run, "chat")
    assert [each["messages"][1] for each in held] == [
        {"role": "assistant", "content": "RIGHT"}
    ] * len(held)
    assert all(row["prompt"] == [] for row in lines(run, "messages"))


def test_an_episode_without_turns_has_no_conversation(run: Path) -> None:
    episode = next(iter(load_evidence(run).trajectories))
    assert conversations(episode)
    assert conversations(replace(episode, turns=())) == []


def test_parquet_holds_the_frame_of_turns(run: Path, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="needs the extra frames")
    pytest.importorskip("pyarrow", reason="needs the extra parquet")
    n = export_file(run, "parquet", tmp_path / "turns.parquet")
    read, frame = pandas.read_parquet(tmp_path / "turns.parquet"), turns_frame(run)
    assert (len(read), [*read.columns]) == (n, [*frame.columns])
    assert read.reward.tolist() == frame.reward.tolist()


def test_parquet_holds_the_frame_of_episodes(run: Path, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="needs the extra frames")
    pytest.importorskip("pyarrow", reason="needs the extra parquet")
    n = export_file(run, "episodes", tmp_path / "episodes.parquet")
    read, frame = (
        pandas.read_parquet(tmp_path / "episodes.parquet"),
        episodes_frame(run),
    )
    assert n == len(read) == len(frame) > 0
    assert read.equals(frame)


def test_datasets_reads_the_turns(run: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="needs the extra datasets")
    export_file(run, "datasets", tmp_path / "turns")
    assert (
        datasets.load_from_disk(str(tmp_path / "turns"))["action"]
        == turns_frame(run).action.tolist()
    )


def test_activations_are_arrays_with_the_turns_of_their_rows(
    run: Path, tmp_path: Path
) -> None:
    pandas = pytest.importorskip("pandas", reason="needs the extra frames")
    pytest.importorskip("pyarrow", reason="needs the extra parquet")
    with pytest.raises(GdeError, match="holds no activations"):
        export_file(run, "activations", tmp_path / "none")
    run = tmp_path / "run"
    evaluate(whole_plan(6), run, Catalogue(load_plugins(modules=WHOLE)))
    n = export_file(run, "activations", tmp_path / "arrays")
    stored = gde.open(run).stored
    names = [path.stem for path in (tmp_path / "arrays").glob("*.npy")]
    assert len(names) == stored.n_rows > 0
    rows = 0
    for layer, position, source in zip(*stored.values(), strict=True):
        name = f"{source}-layer-{layer}-{position}"
        values = np.load(tmp_path / "arrays" / f"{name}.npy", mmap_mode="r")
        own = pandas.read_parquet(tmp_path / "arrays" / f"{name}.parquet")
        found = gde.open(run).activations(layer, position, source)
        assert np.array_equal(values, found.values)
        assert own.to_dict("list") == found.labels.to_pandas().to_dict("list")
        assert not own.duplicated(["episode", "index", "token"]).any()
        rows += len(own)
    assert n == rows


def test_a_log_of_inspect_has_one_of_two_endings(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "log.txt"
    with pytest.raises(
        ConfigError, match=r"log\.txt: wanted a name that ends in \.eval"
    ):
        export_file(run, "inspect", out)
    assert not out.exists()


@pytest.mark.parametrize("form", FILE_FORMS)
def test_nothing_is_written_over(form: Any, run: Path, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("mine")
    with pytest.raises(GdeError, match="there: File exists"):
        export_file(run, form, tmp_path / "there")
    assert (tmp_path / "there").read_text() == "mine"


def test_a_folder_that_is_not_there_is_named(run: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="needs the extra parquet")
    with pytest.raises(GdeError, match=r"nowhere/turns\.parquet: "):
        export_file(run, "parquet", tmp_path / "nowhere" / "turns.parquet")


def test_a_package_that_is_missing_is_named_with_its_extra(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    for module, form, extra in (
        ("datasets", "datasets", "datasets"),
        ("inspect_ai.log", "inspect", "inspect"),
    ):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(MissingExtra, match=rf"gde-eval\[{extra}\]"):
            export_file(run, form, tmp_path / "out.eval")  # type: ignore[arg-type]


def test_an_export_that_fails_leaves_nothing_behind(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pandas = pytest.importorskip("pandas")

    def fails(_: object, path: Path, **options: object) -> None:
        path.write_text("begun")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pandas.DataFrame, "to_parquet", fails)
    with pytest.raises(ConfigError, match="No space left on device"):
        export_file(run, "parquet", tmp_path / "turns.parquet")
    assert [*tmp_path.iterdir()] == []
