"""Every bundled part keeps the promises of its protocol, as it is offered: looked up by
name and made from defaults.
"""

from pathlib import Path
from typing import Any, get_args

import pytest

from gde.request.catalogue import Catalogue, Entry
from gde.request.kinds import KINDS
from gde.request.settings import build
from gde.testing.distribution import check_part
from gde_plugins.probes.config import MapVariant

CATALOGUE = Catalogue.default()
QUICK: dict[str, dict[str, Any]] = {
    "cogmap": {"variants": get_args(MapVariant), "epochs": 3, "hidden": 8},
    "processes": {"workers": 2},
    "meg-cliffworld": {"starts": 1, "steps": 2},
}
"""Configurations that make a check quick; what matters is that the promises are kept,
not how good the part is.
"""
SIMULATORS = dict.fromkeys(
    ("textworld", "alfworld", "scienceworld"),
    "takes long: tests/plugins/text_worlds checks it",
)
TRAINED = dict.fromkeys(("supervised", "vlwm"), "needs the folder of a trained model")
CANNOT = {
    "hf": "needs a folder with weights",
    "gguf": "needs a file with weights",
    "captured": "stands for arrays in a run",
    "openai": "needs a server",
    "judge": "needs a language model that can judge",
    "human": "needs a person",
    **SIMULATORS,
    **TRAINED,
}
"""Offers that nothing is made of here; their own tests use stand-ins, or small
worlds.
"""
LONG = {"expert", "nano", "meg-cliffworld"}
"""Offers whose check takes seconds."""
BUNDLED = [
    pytest.param(
        kind,
        entry,
        id=f"{kind}-{entry.offer.name}",
        marks=[pytest.mark.extended] if entry.offer.name in LONG else [],
    )
    for kind in KINDS
    for entry in CATALOGUE.entries(kind)
    if entry.module.startswith(("gde.", "gde_plugins."))
]


@pytest.mark.parametrize(("kind", "entry"), BUNDLED)
def test_a_part_keeps_the_promises_of_its_kind(
    kind: str, entry: Entry, tmp_path: Path
) -> None:
    if reason := CANNOT.get(entry.offer.name):
        pytest.skip(reason)
    if missing := entry.offer.missing():
        pytest.skip(f"{', '.join(missing)} not installed")
    config = build(
        entry.offer.config, QUICK.get(entry.offer.name, {}), entry.offer.name
    )
    check_part(kind, entry, config, tmp_path, CATALOGUE)
