"""`gde doctor` says what is there, what is missing, and what would install it."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, ModelOffer, NoConfig, Offer
from gde.runs.examining import Finding, examine, self_test

LACKING: AnyOffer = Offer(
    name="lacking",
    summary="Needs what nobody has.",
    config=NoConfig,
    make=lambda _, __: None,
    imports=("nobody_has_this",),
    extra="some",
    programs={"no-such-program": "apt install such-a-program"},
)


def _raise() -> Sequence[str]:
    raise OSError("no disk")


@hookimpl
def gde_agents() -> Sequence[AnyOffer]:
    """One that lacks a package and a program."""
    return (LACKING,)


@hookimpl
def gde_language_models() -> Sequence[AnyOffer]:
    """One that finds something, one that fails to look."""
    rich: ModelOffer[Any, Any] = ModelOffer(
        name="rich",
        summary="Finds something.",
        config=NoConfig,
        make=lambda _, __: None,
        local_weights=lambda: ("two [bracketed] files",),
    )
    return (rich, replace(rich, name="poor", local_weights=_raise))


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> dict[str, Finding]:
    monkeypatch.setitem(sys.modules, "plugin_of_the_test", sys.modules[__name__])
    monkeypatch.setenv("GDE_LOAD_PLUGINS", "plugin_of_the_test")
    monkeypatch.setattr(
        "gde.runs.examining.self_test", lambda: Finding("self-test", True, "")
    )
    return {each.subject: each for each in examine()}


def test_what_is_missing_is_said_with_the_line_that_installs_it(
    found: dict[str, Finding],
) -> None:
    lacking = found["package nobody_has_this"]
    assert not lacking.ok and not lacking.vital
    assert lacking.detail == (
        "missing; agent lacking unavailable: pip install 'plugin_of_the_test[some]'"
    )
    program = found["program no-such-program"]
    told = "missing; agent lacking unavailable: apt install such-a-program"
    assert (program.ok, program.detail) == (False, told)


def test_parts_say_what_they_find_and_one_that_cannot_is_a_finding(
    found: dict[str, Finding],
) -> None:
    assert found["language model rich"] == Finding(
        "language model rich", True, "two [bracketed] files"
    )
    assert found["language model poor"] == Finding(
        "language model poor", False, "search failed: OSError: no disk"
    )
    assert (
        "nano" in found["language model nano"].subject
        and "MiB" in found["language model nano"].detail
    )


def test_weights_in_the_cache_are_found_without_loading_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gde_plugins.language_models.local_weights import downloaded

    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    assert downloaded() == [
        f"no weights in {tmp_path}: give the path of a folder, hf:PATH"
    ]
    weights = tmp_path / "models--some--model" / "snapshots" / "0" / "model.safetensors"
    weights.parent.mkdir(parents=True)
    weights.write_bytes(b"0" * 3 * 2**20)
    assert downloaded() == ["hf:some/model, 3 MiB"]


def test_the_self_test_runs_everything_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tested = self_test()
    assert tested.ok and tested.vital, tested.detail
    assert "without a probe" not in tested.detail
    monkeypatch.setattr("gde.runs.examining.KIT", "no.such.kit")
    broken = self_test()
    assert (broken.ok, broken.vital) == (False, True)
    assert "corridor" in broken.detail


def test_the_self_test_leaves_out_what_no_package_is_there_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And is not disturbed by a plugin that is asked for besides, of names like its
    own.
    """
    monkeypatch.setenv("GDE_LOAD_PLUGINS", "gde.testing.plugin,plugin_of_the_test")
    monkeypatch.setitem(sys.modules, "plugin_of_the_test", sys.modules[__name__])
    monkeypatch.setattr(
        sys.modules[__name__], "LACKING", replace(LACKING, name="asking")
    )
    monkeypatch.setattr("gde.runs.examining.find_spec", lambda _: None)
    tested = self_test()
    assert tested.ok, tested.detail
    assert tested.detail.endswith("without a probe: pip install 'gde-eval[probes]'")
