"""Clusters with worlds that are shown alike count as one, and no others."""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from gde.data.observation import State, World
from gde.data.trajectory import Trajectory
from gde.stages.alike_worlds import joined_clusters
from gde.testing.episodes import Move, episode_of


def episode(
    index: int,
    *,
    base: str,
    world: str = "",
    text: str = "",
    objective: str = "find it",
    at: int | None = 0,
) -> Trajectory:
    """An episode in its own world, unless it has the id or the view of another."""
    place = World(
        id=world or f"world {index}", base=base, facts={"objective": objective}
    )
    state = None if at is None else State(facts={"at": at})
    shown = Move(action="left", text=text or f"text {index}", state=state)
    return episode_of([shown, Move(action="left")], world=place, index=index)


def clusters(*episodes: Trajectory) -> list[str]:
    return list(joined_clusters(episodes).values())


def test_worlds_that_differ_keep_their_clusters() -> None:
    assert clusters(
        episode(0, base="c"), episode(1, base="b"), episode(2, base="c")
    ) == [
        "c",
        "b",
        "c",
    ]


def test_clusters_with_the_same_world_are_one() -> None:
    found = joined_clusters(
        [
            episode(0, base="b", world="same"),
            episode(1, base="a"),
            episode(2, base="c", world="same"),
            episode(3, base="c"),
        ]
    )
    assert found == {"0/0/0": "b", "0/1/0": "a", "0/2/0": "b", "0/3/0": "b"}


def test_chains_of_clusters_are_one_whatever_their_order() -> None:
    chain = [
        episode(0, base="d", world="x"),
        episode(1, base="c", world="y"),
        episode(2, base="b", world="y"),
        episode(3, base="c", world="x"),
        episode(4, base="a"),
        episode(5, base="a", world="z"),
        episode(6, base="e", world="z"),
    ]
    for episodes in (chain, chain[::-1]):
        found = joined_clusters(episodes)
        assert [found[f"0/{index}/0"] for index in range(7)] == [*"bbbbaaa"]


def test_clusters_are_one_where_any_path_of_equal_worlds_joins_them() -> None:
    """Against the components of random graphs of clusters."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        pairs = rng.integers(8, size=(5, 2))
        episodes: list[Trajectory] = []
        for shared, pair in enumerate(pairs.tolist()):
            for cluster in pair:
                index = len(episodes)
                one = episode(index, base=f"c{cluster}", world=f"shared {shared}")
                episodes.append(one)

        graph = coo_array((np.ones(5), pairs.T), shape=(8, 8))
        _, component = connected_components(graph, directed=False)
        names = []
        for cluster in pairs.ravel():
            # The first cluster of a component has the first name.
            first = np.flatnonzero(component == component[cluster])[0]
            names.append(f"c{first}")
        assert clusters(*episodes) == names


def test_facts_are_the_same_in_any_order() -> None:
    there = [State(facts={"x": 1, "y": 2}), State(facts={"y": 2, "x": 1})]
    episodes = []
    for index, state in enumerate(there):
        place = World(id=f"world {index}", base="ab"[index])
        moves = [Move(action="left", text="##", state=state)]
        episodes.append(episode_of(moves, world=place, index=index))
    assert clusters(*episodes, episode(2, base="c")) == ["a", "a", "c"]


def test_worlds_with_the_same_first_view_are_alike() -> None:
    other = episode(2, base="c")
    alike = episode(0, base="a", text="##"), episode(1, base="b", text="##")
    assert clusters(*alike, other) == ["a", "a", "c"]

    for differing in (
        episode(1, base="b", text="#_"),
        episode(1, base="b", text="##", objective="leave it"),
        episode(1, base="b", text="##", at=1),
        episode(1, base="b", text="##", at=None),
    ):
        assert clusters(alike[0], differing, other) == ["a", "b", "c"]


def test_a_first_view_that_all_worlds_share_makes_none_alike() -> None:
    """It may be a greeting, as in a game of guessing."""
    several = [episode(index, base="abc"[index], text="guess!") for index in range(3)]
    assert clusters(*several) == ["a", "b", "c"]


def test_an_episode_without_turns_has_the_cluster_of_its_world() -> None:
    failed = episode_of([], world=World(id="world 0", base="b"), index=1)
    assert clusters(episode(0, base="a"), failed) == ["a", "a"]
