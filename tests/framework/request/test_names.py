"""Language models by the text that a user writes."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest

from gde.data.json import Json
from gde.data.plan import NOTHING, Choice
from gde.errors import ConfigError, GdeError, UnknownName
from gde.offers import ModelName
from gde.request.catalogue import Catalogue, Entry, load_plugins
from gde.request.models import find_model, models_by_name
from gde.request.names import model_names


@dataclass(frozen=True)
class Asks:
    model: ModelName = "planted"
    adviser: ModelName = ""
    judge: Annotated[ModelName, "a note"] = "noted:x"
    style: str = "model"


@dataclass(frozen=True)
class AsksNobody:
    model: str = "planted"


def test_the_fields_that_name_a_model_are_found_in_their_order() -> None:
    assert list(model_names(Asks()).items()) == [
        ("model", "planted"),
        ("judge", "noted:x"),
    ]
    assert model_names(Asks(adviser="a")) == {
        "model": "planted",
        "adviser": "a",
        "judge": "noted:x",
    }
    assert model_names(AsksNobody()) == {}


def test_settings_need_a_model_that_they_are_for() -> None:
    own = Choice(name="", config={"depth": 3})
    (found,) = models_by_name([own], "mine", "noted").values()
    assert found == Choice(name="noted", config={"depth": 3})
    with pytest.raises(
        ConfigError, match=r"model\.depth: agent 'mine' uses no language model"
    ):
        models_by_name([own], "mine", "")


def found(
    name: str,
    catalogue: Catalogue,
    settings: Mapping[str, Json] = NOTHING,
    whose: str = "w",
) -> tuple[Entry, Any]:
    return find_model(Choice(name=name, config=settings), catalogue, whose)


@pytest.mark.parametrize(
    ("name", "offer", "source"),
    [
        ("planted", "planted", None),
        ("gde.testing.plugin:planted", "planted", None),
        ("noted:log", "noted", "log"),
        ("noted:http://host:8000/v1", "noted", "http://host:8000/v1"),
        ("asking_parts:noted:log", "noted", "log"),
        ("asking_parts:noted:a:b", "noted", "a:b"),
        ("logged", "logged", ""),
    ],
)
def test_a_name_may_bring_an_argument_and_its_plugin(
    name: str, offer: str, source: str | None, asking: Catalogue
) -> None:
    entry, config = found(name, asking, whose="agent.model")
    assert entry.offer.name == offer
    assert getattr(config, "source", None) == source


def test_settings_and_argument_make_one_configuration(asking: Catalogue) -> None:
    assert found("noted", asking, {"source": "log", "note": "n"})[1].source == "log"
    config = found("noted:log", asking, {"source": "log", "note": "n"})[1]
    assert (config.source, config.note) == ("log", "n")


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("plantet", {}, r"unknown language model 'plantet'\. Did you mean planted"),
        ("opena:http://x", {}, r"unknown language model 'opena'\. Did you mean openai"),
        ("asking_parts:nobody:x", {}, "unknown language model 'asking_parts:nobody'"),
        ("planted:x", {}, "^agent.model: wanted planted, got 'planted:x'$"),
        ("noted", {}, "^agent.model: wanted noted:SOURCE, got 'noted'$"),
        (
            "noted:a",
            {"source": "b"},
            r"^model\.source: wanted 'a' as agent.model says, got 'b'; drop one of them$",
        ),
        ("planted", {"depth": 3}, "unknown field of model 'depth'"),
    ],
)
def test_what_is_no_model_is_refused_in_a_sentence(
    name: str, settings: dict[str, Json], message: str, asking: Catalogue
) -> None:
    with pytest.raises(GdeError, match=message):
        found(name, asking, settings, "agent.model")


def test_a_plugin_and_its_model_may_have_one_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "served.py").write_text(
        "from asking_parts import NotedConfig\nfrom gde import ModelOffer, hookimpl\n\n@hookimpl\n"
        "def gde_language_models():\n"
        "    return [ModelOffer(name='served', summary='s', config=NotedConfig, make=lambda _, __: None)]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    catalogue = Catalogue(load_plugins(modules=("served",)))
    assert found("served:http://host", catalogue)[1].source == "http://host"


def test_two_models_of_one_name_are_told_apart_by_their_plugins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rival.py").write_text(
        "from gde import ModelOffer, NoConfig, hookimpl\n\n@hookimpl\ndef gde_language_models():\n"
        "    return [ModelOffer(name='planted', summary='s', config=NoConfig, make=lambda _, __: None)]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    catalogue = Catalogue(load_plugins(modules=("gde.testing.plugin", "rival")))
    with pytest.raises(
        GdeError,
        match=r"offered by .*: say gde.testing.plugin:planted or rival:planted",
    ):
        found("planted", catalogue)
    assert found("rival:planted", catalogue)[0].module == "rival"
    with pytest.raises(UnknownName):
        found("rival:plantet", catalogue)
