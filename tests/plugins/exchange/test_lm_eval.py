"""Samples of lm-evaluation-harness in the forms of its versions become runs."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from gde.errors import GdeError
from gde_plugins.exchange.import_command import command
from gde_plugins.exchange.importing import import_log
from gde_plugins.exchange.lm_eval_logs import read_lm_eval

MODEL = "pretrained=some/model,dtype=float"


def sample(number: int, answer: str = "4", **more: Any) -> dict[str, Any]:
    """As 0.4.0 logs it; every further field is a score."""
    return {
        "doc_id": number,
        "doc": {"question": f"2 + {number}?"},
        "target": "4",
        "arguments": [[f"2 + {number}?", {"until": ["."]}]],
        "resps": [[answer]],
        "filtered_resps": [answer],
        **more,
    }


def choices(**more: Any) -> dict[str, Any]:
    """A question of three choices, of which the second is the likeliest."""
    each = zip((" UP", " DOWN", " LEFT"), (-3.0, -0.5, -2.0), strict=True)
    rows = [(["which way?", text], [weight, False]) for text, weight in each]
    # Weighed without the question, the first is.
    rows.append((["", " UP"], [-0.1, False]))
    return {
        **sample(7),
        "arguments": [asked for asked, _ in rows],
        "resps": [[weighed] for _, weighed in rows],
        "filtered_resps": [weighed for _, weighed in rows],
        "acc": 1.0,
        **more,
    }


def early(folder: Path, *samples: dict[str, Any]) -> Path:
    """A file of 0.4.0 to 0.4.2: one array, beside the results that name the model."""
    folder.mkdir(parents=True, exist_ok=True)
    results = {"config": {"model_args": MODEL}, "results": {"sums": {"bypass": 999}}}
    (folder / "results.json").write_text(json.dumps(results), encoding="utf-8")
    path = folder / "pretrained__some__model,dtype__float_word_sums.jsonl"
    path.write_text(json.dumps(samples, indent=2), encoding="utf-8")
    return path


def middle(folder: Path, *samples: dict[str, Any]) -> Path:
    """A file of 0.4.3."""
    folder = folder / "some__model"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "samples_word_sums_2024-07-01T00-00-00.json"
    hashed = [{**one, "prompt_hash": "a", "target_hash": "b"} for one in samples]
    path.write_text(json.dumps(hashed, indent=2), encoding="utf-8")
    return path


def late(folder: Path, *samples: dict[str, Any]) -> Path:
    """A file of 0.4.5: one sample a line, with its metrics and its filter."""
    folder = folder / "some__model"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "samples_word_sums_2024-11-01T00-00-00.jsonl"
    lines = []
    for one in samples:
        asked = {f"arg_{i}": each for i, each in enumerate(one["arguments"][0])}
        named = {"arguments": {"gen_args_0": asked}, "filter": "none"}
        more = {"metrics": ["acc"], "odd": 5.0}
        lines.append(json.dumps({**one, **named, **more}))
    path.write_text("\n\n".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("write", "model"),
    [(early, MODEL), (middle, "some__model"), (late, "some__model")],
)
def test_samples_of_every_version_are_the_same(
    write: Any, model: str, tmp_path: Path
) -> None:
    read = read_lm_eval(
        write(tmp_path, sample(0, acc=1.0, bypass=999, ppl=[1.0, 2]), sample(1, acc=0))
    )
    assert (read.task, read.model) == ("word_sums", model)
    assert [one.scores for one in read.samples] == [{"acc": 1.0}, {"acc": 0.0}]
    first, _ = read.samples
    assert (first.asked, first.answer) == ("2 + 0?", "4")
    # Questions are told apart by what they ask, alike in all versions.
    assert first.id == read_lm_eval(early(tmp_path / "early", sample(0))).samples[0].id

    result = import_log(read, tmp_path / "run")
    assert result.status == "ok"
    assert [(one.name, one.value) for one in result.measurements] == [
        ("scores.acc", 0.5)
    ]


def test_answers_without_scores_have_a_reason_and_no_number(tmp_path: Path) -> None:
    read = read_lm_eval(early(tmp_path, sample(0, bypass=None), sample(1, bypass=999)))
    result = import_log(read, tmp_path / "run")
    (only,) = result.measurements
    assert only.value is None and "scores" in only.reason
    assert result.failures == ()


def test_the_likeliest_choice_is_the_answer(tmp_path: Path) -> None:
    weights = [["-3.0", "False"], ["-0.5", "True"], ["-2.0", "False"]]
    for one in (choices(), choices(filtered_resps=weights)):
        (read,) = read_lm_eval(early(tmp_path, one)).samples
        assert (read.asked, read.answer) == ("which way?", "DOWN")
        assert read.scores == {"acc": 1.0}


def test_a_document_comes_once_for_each_filter(tmp_path: Path) -> None:
    twice = (sample(0, "4.", exact=0.0), sample(0, "4", exact=1.0))
    (read,) = read_lm_eval(early(tmp_path, *twice)).samples
    assert (read.answer, read.scores) == ("4.", {"exact": 0.0, "exact,2": 1.0})


def test_what_is_no_sample_is_named_by_file_and_place(tmp_path: Path) -> None:
    path = early(tmp_path, sample(0), {"doc_id": 1})
    with pytest.raises(GdeError, match=r"LOG: .*jsonl: sample 2: doc: wanted a value"):
        command(path, tmp_path / "run")
    path = late(tmp_path, sample(0))
    path.write_text(f"{path.read_text(encoding='utf-8')}\n{{", encoding="utf-8")
    with pytest.raises(GdeError, match=r"LOG: .*jsonl:2: wanted JSON"):
        command(path, tmp_path / "run")
    path.write_text("", encoding="utf-8")
    with pytest.raises(GdeError, match="wanted samples, got none"):
        command(path, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("write", [early, late])
def test_damaged_files_are_read_or_refused(write: Any, tmp_path: Path) -> None:
    path = write(tmp_path, sample(0, acc=1.0), choices())
    whole = path.read_bytes()
    rng = random.Random(0)
    refused = 0
    for _ in range(300):
        at = rng.randrange(len(whole))
        other = rng.choice((b"[", b"{}", b"null,", b'"\\ud800"', b"9" * 400, b"\xff"))
        path.write_bytes(whole[:at] + other + whole[at + rng.randrange(9) :])
        try:
            read_lm_eval(path)
        except GdeError as error:
            assert "\n" not in str(error) and path.name in str(error)
            refused += 1
    assert 100 < refused <= 300
