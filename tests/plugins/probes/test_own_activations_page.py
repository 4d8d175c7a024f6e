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

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "own-activations.md"
HOOK = "blocks.3.hook_resid_post"
WIDTH = 16


class HookedTransformer:
    """Has activations that count characters, and logits that come from them."""

    @classmethod
    def from_pretrained(cls, _: str) -> "HookedTransformer":
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
    stand_in.HookedTransformer = HookedTransformer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "transformer_lens", stand_in)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    assert [len(block.strip().splitlines()) <= 16 for block in blocks] == [True] * 3

    names: dict[str, Any] = {"__name__": "page"}
    exec("\n".join(blocks[:2]).replace("episodes=20", "episodes=8"), names)
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
