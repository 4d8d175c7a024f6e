"""An episode as an animated SVG file has a frame for each turn, and no script."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from gde.data.evidence import Evidence
from gde.errors import GdeError
from gde_plugins.pages.figures.animation import SECONDS, animation

SVG = "{http://www.w3.org/2000/svg}"


def test_every_turn_is_a_frame_shown_in_its_time(evidence: Evidence) -> None:
    episode = max(evidence.trajectories, key=lambda one: len(one.turns))
    n_turns = len(episode.turns)
    assert n_turns > 2
    text = animation(episode)
    root = ET.fromstring(text)
    frames = [each for each in root.iter(f"{SVG}g") if "frame" in each.get("class", "")]
    assert len(frames) == n_turns
    for turn, frame in zip(episode.turns, frames, strict=True):
        (said,) = [
            one for one in frame.iter(f"{SVG}text") if one.get("class") == "said"
        ]
        assert said.text and said.text.startswith(f"{turn.index + 1}: ")
        assert str(turn.decision.action or "none") in said.text
    delays = [float(one) for one in re.findall(r"animation-delay: ([\d.]+)s", text)]
    assert delays == pytest.approx([i * SECONDS for i in range(n_turns)])
    (cycle,) = re.findall(r"animation: shown ([\d.]+)s", text)
    assert float(cycle) == pytest.approx(n_turns * SECONDS)
    assert "<script" not in text


def test_an_episode_without_maps_is_refused(evidence: Evidence) -> None:
    first = next(one for one in evidence.trajectories if one.turns)
    facts = {**first.world.facts, "view": "a lamp stands here"}
    told = replace(first, world=replace(first.world, facts=facts))
    with pytest.raises(GdeError, match="has no maps to draw"):
        animation(told)
