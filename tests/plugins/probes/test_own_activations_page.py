"""The page on activations of one's own runs as it stands, on a stand-in of TransformerLens."""

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor

import gde
from gde_plugins.language_models.nano import folder

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "own-activations.md"
HOOK = "blocks.3.hook_resid_post"
WIDTH = 16


class TransformerBridge:
    """Has activations that count characters, and logits that come from them."""

    @classmethod
    def boot_transformers(cls, _: str) -> "TransformerBridge":
        return cls()

    def __call__(self, text: str) -> Tensor:
        return self.run_with_cache(text)[0]

    def run_with_cache(self, text: str) -> tuple[Tensor, dict[str, Tensor]]:
        ones = torch.eye(WIDTH)[[ord(each) % WIDTH for each in text]]
        places = 1 + torch.arange(len(text))
        residual = (ones * places[:, None]).cumsum(dim=0)[None]
        return residual @ torch.ones(WIDTH, 128), {HOOK: residual}

    def to_tokens(self, text: str) -> Tensor:
        return torch.tensor([[0, *map(ord, text)]])


def test_the_page_probes_what_it_has_captured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = ModuleType("transformer_lens")
    stand_in.TransformerBridge = TransformerBridge  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "transformer_lens", stand_in)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    assert [len(block.strip().splitlines()) <= 16 for block in blocks] == [True] * 4

    names: dict[str, Any] = {"__name__": "page"}
    exec("\n".join(blocks[1:3]).replace("episodes=20", "episodes=8"), names)
    run = gde.open("runs/hooked")
    shown = run.messages["observation"]
    (source,) = set(run.stored["source"])
    stored = run.activations(3, "last", str(source)).values
    assert stored.shape == (len(shown), WIDTH)
    n = len(str(shown[0]))
    assert stored[0].sum() == n * (n + 1) / 2
    places = {
        (one.where["layer"], one.where["position"])
        for one in names["result"].measurements
        if one.name.startswith("cogmap.")
    }
    assert places == {(3, "last")}


@pytest.mark.extended
def test_the_page_evaluates_a_model_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """nano in the place of the page's model, asked as nano is; in few episodes."""
    monkeypatch.chdir(tmp_path)
    block, *_ = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    assert len(block.strip().splitlines()) <= 10 + len(["import"] * 3)
    for written, tried in (
        ("openai/gpt-oss-20b", str(folder())),
        ('"mine"}', '"mine", "style": "compact", "effort": "medium"}'),
        ("episodes=20", "episodes=8, initialisations=1, learning=False"),
    ):
        assert written in block
        block = block.replace(written, tried)
    names: dict[str, Any] = {"__name__": "page"}
    exec(block, names)
    assert names["result"].status == "ok"
    assert str(names["result"].subject).count("mine")
    resumed = gde.resume("runs/held", plan=names["plan"])
    assert resumed.measurements == names["result"].measurements
    with pytest.raises(
        gde.GdeError, match="an object of the program that made the run"
    ):
        gde.resume("runs/held")
