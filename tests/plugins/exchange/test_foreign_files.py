"""Files of other programs that are wrong or damaged are refused in one line; what is
only unusual is read.
"""

import json
import os
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from gde.errors import GdeError
from gde_plugins.exchange import foreign_files
from gde_plugins.exchange.foreign_files import check_archive, number, what_is_wrong
from gde_plugins.exchange.lm_eval_logs import read_lm_eval

HEADERS = ("header.json",)


def line(**changes: Any) -> str:
    logged = {
        "doc_id": 0,
        "doc_hash": "0" * 64,
        "arguments": [["1 + 1?", {}]],
        "filtered_resps": ["2"],
        "filter": "none",
        "metrics": ["acc"],
        "acc": 1.0,
    }
    return json.dumps({**logged, **changes}, ensure_ascii=False)


NO_SAMPLE = "line 1: wanted a sample that lm_eval --log_samples wrote; "
DAMAGED: dict[str, tuple[str | bytes, str]] = {
    "of another shape": (
        '{"role": "user", "content": "x"}',
        f"{NO_SAMPLE}doc_id: Field required",
    ),
    "a list": ("[1, 2]", f"{NO_SAMPLE}Input should be an object"),
    "nothing": ("null", f"{NO_SAMPLE}Input should be an object"),
    "cut short": (line()[:50], f"{NO_SAMPLE}Invalid JSON: EOF"),
    "the second line": (f"{line()}\n{{", "line 2: wanted a sample"),
    "nested without end": ("[" * 200_000, f"{NO_SAMPLE}Invalid JSON: recursion limit"),
    "half a character": (
        line().replace("1 + 1?", "\\ud800"),
        f"{NO_SAMPLE}Invalid JSON: unexpected end of hex escape",
    ),
    "a digest that is a number": (
        line(doc_hash=3),
        f"{NO_SAMPLE}doc_hash: Input should be a valid string",
    ),
    "metrics that are a text": (
        line(metrics="acc"),
        f"{NO_SAMPLE}metrics: Input should be a valid",
    ),
    "a metric without a value": (
        line(metrics=["f1"]),
        "wanted a value of each of its metrics, got none of 'f1'",
    ),
    "two logs in one": (
        f"{line()}\n{line()}",
        "line 2: wanted document 0 once, got it again",
    ),
    "other bytes": (b"\xff\xfe\x00", "wanted a text file of samples"),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_damaged_samples_are_refused_in_one_line(kind: str, tmp_path: Path) -> None:
    content, said = DAMAGED[kind]
    path = tmp_path / "samples_sums_2026.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(GdeError) as refused:
        read_lm_eval(path)
    assert str(refused.value).startswith(str(path))
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < len(str(path)) + 300


@pytest.mark.parametrize(
    "content",
    [
        line(
            arguments=[["a\u2028b\x85c", {}]]
        ),  # ends of lines for Python's `splitlines`, and in no JSON
        f"\n{line()}\n\n",
        f"\ufeff{line()}",
        line(doc_id="first"),
    ],
)
def test_unusual_samples_are_read(content: str, tmp_path: Path) -> None:
    path = tmp_path / "samples_sums_2026.jsonl"
    path.write_text(content, encoding="utf-8")
    (sample,) = read_lm_eval(path).samples
    assert sample.scores == {"acc": 1.0}


@pytest.mark.parametrize(
    ("score", "said"),
    [
        ("NaN", "acc is nan"),
        ("Infinity", "acc is inf"),
        ("1" + "0" * 400, "acc is 1" + "0" * 39),
        ('"0.5"', "acc is '0.5'"),
        ("[0.5, 3]", "acc is [0.5, 3]"),
    ],
)
def test_what_is_no_number_leaves_a_sample_unscored_and_is_named(
    score: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "samples_sums_2026.jsonl"
    path.write_text(line().replace("1.0}", f"{score}}}"), encoding="utf-8")
    (sample,) = read_lm_eval(path).samples
    assert sample.failure == f"it was not scored: {said}"


def test_one_score_is_enough(tmp_path: Path) -> None:
    path = tmp_path / "samples_sums_2026.jsonl"
    path.write_text(
        line().replace("1.0}", "NaN}") + "\n" + line(filter="strict"), encoding="utf-8"
    )
    (sample,) = read_lm_eval(path).samples
    assert sample.scores == {"acc,strict": 1.0} and sample.failure == ""


def archive(path: Path, **texts: str) -> Path:
    with ZipFile(path, "w", ZIP_DEFLATED) as file:
        for name, text in texts.items():
            file.writestr(f"{name}.json", text)
    return path


def test_an_archive_of_its_kind_is_accepted_and_one_that_is_cut_is_not(
    tmp_path: Path,
) -> None:
    whole = archive(tmp_path / "a.eval", header="{}")
    check_archive(whole, "a log", HEADERS)
    content = whole.read_bytes()
    for length in (0, 10, len(content) - 5):
        whole.write_bytes(content[:length])
        with pytest.raises(
            GdeError,
            match=r"a\.eval: wanted a log, got no whole zip archive; was it cut short\?",
        ):
            check_archive(whole, "a log", HEADERS)


def test_an_archive_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        GdeError, match=r"wanted a log, got a zip archive without header\.json"
    ):
        check_archive(archive(tmp_path / "a.eval", other="{}"), "a log", HEADERS)


def test_what_unpacks_to_too_much_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreign_files, "AT_MOST", 2**20)
    bomb = archive(tmp_path / "a.eval", header="0" * 2**24)
    assert bomb.stat().st_size < 2**16
    with pytest.raises(
        GdeError,
        match=r"a\.eval: wanted at most .* of samples, got .*; import it in parts",
    ):
        check_archive(bomb, "a log", HEADERS)
    large = tmp_path / "samples_a_2026.jsonl"
    with large.open("wb") as file:
        os.truncate(file.fileno(), 2**21)
    with pytest.raises(GdeError, match="wanted at most"):
        read_lm_eval(large)


def test_an_archive_that_unpacks_to_much_more_than_a_log_is_refused(
    tmp_path: Path,
) -> None:
    bomb = archive(tmp_path / "a.eval", header="0" * 2**26)
    with pytest.raises(
        GdeError, match=r"an archive that unpacks to \d+ times its size"
    ):
        check_archive(bomb, "a log", HEADERS)


def test_a_reason_is_one_short_line() -> None:
    said = what_is_wrong(ValueError("first\n  second " + "x" * 10_000))
    assert said.startswith("first second x")
    assert len(said) <= 200
    assert what_is_wrong(KeyError("header")) == "there is no 'header'"
    assert [
        number(each) for each in (True, 2, 0.5, "2", None, float("inf"), 10**400)
    ] == [1, 2, 0.5, *[None] * 4]
