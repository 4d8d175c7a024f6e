"""nano behind a server plays and activates as nano in this process does, in the ways of
several servers; other weights and other tokens are found out.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from transformers import AutoModelForCausalLM, AutoTokenizer

from gde import (
    Choice,
    Completion,
    How,
    Plan,
    Trajectory,
    evaluate,
    load_evidence,
    probe,
)
from gde.data.activations import CaptureRequest, TokenSequence
from gde.parts.context import OutsideRun
from gde.stages.capturing import sequences
from gde.stages.replaying import retokenize
from gde.store.activations import ActivationStore
from gde.store.folder import RunFolder
from gde.store.journal import Journal
from gde.store.replays import read_replays, unread

pytest.importorskip("openai", reason="needs the extra openai")

from gde_plugins.language_models import in_memory
from gde_plugins.language_models.config import NanoConfig
from gde_plugins.language_models.nano import folder as nano_folder
from gde_plugins.language_models.plugin import make_nano
from gde_plugins.language_models.transformers_model import TransformersModel

Way = Callable[[Completion], Completion]
Conversation = tuple[tuple[str, str], ...]
RELATIVE = 1e-5
MIDDLE = CaptureRequest(layers=(3,), positions=("pre", "reasoning", "post"))
GREEDY = {
    "style": "compact",
    "effort": "medium",
    "temperature": 0.0,
    "max_tokens": 200,
}
PAGE = How(reporters=("html",))


def plan(weights: str = "", model: str = "nano") -> Plan:
    reading = {"layer": "middle", "weights": weights}
    return Plan(
        environment=Choice(name="grid", config={"size": 5}),
        agent=Choice(name="gpt-oss", config={**GREEDY, "model": model}),
        probes=(Choice(name="cogmap", config=reading),),
        metrics=("success",),
        episodes=3,
        learning=False,
        initialisations=1,
    )


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("local") / "run"
    evaluate(plan(), folder, how=PAGE)
    return folder


@pytest.fixture(scope="module")
def nano() -> Iterator[TransformersModel]:
    with closing(made("auxiliary")) as model:
        yield model


def made(source: Any) -> TransformersModel:
    model = make_nano(NanoConfig(source=source), OutsideRun())
    assert isinstance(model, TransformersModel)
    return model


def episodes(folder: Path) -> list[Trajectory]:
    return [*load_evidence(folder).trajectories]


def answers(folder: Path) -> list[Completion]:
    found = []
    for episode in episodes(folder):
        for turn in episode.turns:
            assert turn.decision.completion is not None
            found.append(turn.decision.completion)
    return found


@contextmanager
def serving(known: Mapping[Conversation, Completion]) -> Iterator[str]:
    """The URL of a server that gives known answers, and no token ids."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            asked = [(each["role"], each["content"]) for each in body["messages"]]
            answer = known[tuple(asked)]
            message = {"content": answer.text, "reasoning_content": answer.reasoning}
            usage = {
                "prompt_tokens": answer.n_prompt,
                "completion_tokens": answer.n_completion,
            }
            choice = {"message": message, "finish_reason": answer.finish}
            content = json.dumps({"choices": [choice], "usage": usage}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{http.server_address[1]}/v1"
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


def known(folder: Path) -> dict[Conversation, Completion]:
    return {
        tuple((each.role, each.content) for each in answer.prompt): answer
        for answer in answers(folder)
    }


def test_a_served_model_acts_and_activates_as_it_does_here(
    local: Path, tmp_path: Path
) -> None:
    with serving(known(local)) as url:
        result = evaluate(
            plan("nano", f"openai:nano@{url}"), tmp_path / "run", how=PAGE
        )
    assert result.status == "ok", result.failures
    # The server gave text alone.
    assert {each.tokens for each in answers(tmp_path / "run")} == {()}

    acted = [
        [[turn.decision.action for turn in each.turns] for each in episodes(folder)]
        for folder in (local, tmp_path / "run")
    ]
    assert acted[0] == acted[1]
    own, served = (tables(folder) for folder in (local, tmp_path / "run"))
    sources, positions = ("model", "untrained"), ("pre", "post")
    assert own.keys() == served.keys() == {*product(sources, [3], positions)}
    for place, values in own.items():
        np.testing.assert_allclose(served[place], values, rtol=RELATIVE, atol=1e-5)


def test_the_answers_of_a_server_are_read_by_weights_in_memory(
    local: Path, tmp_path: Path
) -> None:
    with serving(known(local)) as url:
        played = replace(plan("", f"openai:nano@{url}"), probes=())
        evaluate(played, tmp_path / "run")
    model = AutoModelForCausalLM.from_pretrained(nano_folder(), dtype="float64")
    held = in_memory("mine", model, AutoTokenizer.from_pretrained(nano_folder()))
    result = probe(tmp_path / "run", plan("mine").probes, models=[held])
    assert not result.failures
    own, served = (tables(folder) for folder in (local, tmp_path / "run"))
    for position in ("pre", "post"):
        place = "model", 3, position
        np.testing.assert_allclose(served[place], own[place], rtol=RELATIVE, atol=1e-5)


def tables(folder: Path) -> dict[tuple[str, int, str], Any]:
    """The activations of all sources, without what names weights."""
    found = {}
    with closing(RunFolder.open(folder).journal()) as journal:
        store = ActivationStore(folder / "activations", journal)
        query = "SELECT DISTINCT source, layer, position FROM activations"
        for source, layer, position in map(tuple, journal.query(query)):
            table = store.table(source, layer, position)
            assert table is not None
            found[source.partition("-")[0], layer, position] = table.values[:]
    return found


def ids(answer: Completion) -> Completion:
    return replace(answer, positions={})


def text(answer: Completion) -> Completion:
    return replace(answer, positions={}, prompt_tokens=(), tokens=(), effort="medium")


def ids_of_the_answer(answer: Completion) -> Completion:
    return replace(text(answer), tokens=answer.tokens)


def other_text(answer: Completion) -> Completion:
    return replace(ids(answer), text=f"{answer.text} and more")


@contextmanager
def tried(
    local: Path, way: Way, model: TransformersModel, folder: Path
) -> Iterator[Journal]:
    """The journal after the answers have been given in this way."""
    owned = dict(sequences(episodes(local), "nano"))
    served = []
    for episode in episodes(local):
        turns = []
        for turn in episode.turns:
            assert turn.decision.completion is not None
            answer = way(turn.decision.completion)
            turns.append(
                replace(turn, decision=replace(turn.decision, completion=answer))
            )
        served.append(replace(episode, turns=tuple(turns)))
    with closing(Journal.create(folder / "run.sqlite")) as journal:
        for (episode, turn), record in retokenize(
            served, "nano", lambda: model, "w", MIDDLE, journal
        ):
            own = owned[episode, turn]
            (expected,) = model.capture([own], MIDDLE)
            for place, values in expected.values.items():
                error = np.linalg.norm(record.values[place] - values, axis=-1)
                assert (error <= RELATIVE * np.linalg.norm(values, axis=-1)).all()
        yield journal


@pytest.mark.parametrize("way", [ids, text, ids_of_the_answer])
def test_answers_are_replayed_on_the_very_tokens(
    local: Path, nano: TransformersModel, tmp_path: Path, way: Way
) -> None:
    own = dict(sequences(episodes(local), "nano"))
    with tried(local, way, nano, tmp_path) as journal:
        assert unread(journal, "w") == ""
        for (episode, turn), expected in own.items():
            found = read_replays(journal, "w", episode)[turn]
            assert found.positions == expected.positions
            # A text does not show the token that ended it.
            n = len(found.tokens)
            assert found.tokens == expected.tokens[:n]
            assert n >= len(expected.tokens) - (way is text)
            here, there = nano.capture([expected, found], MIDDLE)
            for place, values in here.values.items():
                np.testing.assert_allclose(
                    there.values[place], values, rtol=RELATIVE, atol=1e-5
                )


def with_logprobs(model: TransformersModel) -> Way:
    def give(answer: Completion) -> Completion:
        sequence = TokenSequence(
            tokens=answer.prompt_tokens + answer.tokens,
            positions={},
            scored=len(answer.tokens),
        )
        (record,) = model.capture([sequence], CaptureRequest(layers=()))
        return replace(ids(answer), logprobs=record.logprobs)

    return give


def test_log_probabilities_tell_nano_from_its_sibling(
    local: Path, nano: TransformersModel, tmp_path: Path
) -> None:
    """Both have one tokenizer, so that nothing else could tell."""
    (tmp_path / "own").mkdir()
    with tried(local, with_logprobs(nano), nano, tmp_path / "own") as journal:
        assert unread(journal, "w") == ""
    (tmp_path / "other").mkdir()
    with (
        closing(made("plain")) as plain,
        tried(local, with_logprobs(nano), plain, tmp_path / "other") as journal,
    ):
        n = len(answers(local))
        assert unread(journal, "w").startswith(
            f"{n} of {n} turns: weights are not those that were served: of "
        )
        assert read_replays(journal, "w", "0/0/0") == {}


@pytest.mark.extended
def test_at_temperature_0_the_likeliest_tokens_tell_nano_from_its_sibling(
    local: Path, tmp_path: Path
) -> None:
    """Also where the server gives neither ids nor log-probabilities."""
    with serving(known(local)) as url:
        served = plan("nano", f"openai:nano@{url}")
        own = evaluate(served, tmp_path / "own", how=PAGE)
        (probe,) = served.probes
        assert isinstance(probe, Choice)
        config = {**probe.config, "weights": "nano:plain"}
        other = replace(served, probes=(replace(probe, config=config),))
        refused = evaluate(other, tmp_path / "other", how=PAGE)
    assert own.status == "ok", own.failures
    assert refused.status != "ok"
    for failure in refused.failures:
        assert "weights are not those that were served" in failure.reason
        assert "tokens at temperature 0" in failure.reason


def test_an_answer_that_its_tokens_do_not_give_back_is_not_replayed(
    local: Path, nano: TransformersModel, tmp_path: Path
) -> None:
    with tried(local, other_text, nano, tmp_path) as journal:
        assert "the answer's tokens give another text here" in unread(journal, "w")
        assert read_replays(journal, "w", "0/0/0") == {}
