"""The distance probe regresses what is planted, in steps."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.model_selection import LeaveOneGroupOut, cross_val_score

from gde.data.completion import Completion
from gde.data.observation import State, World
from gde.data.probe import ProbeDataset
from gde.data.trajectory import Decision, Trajectory
from gde.errors import GdeError
from gde.testing.episodes import Move, episode_of
from gde_plugins.probes.config import DistanceConfig
from gde_plugins.probes.distance.probe import (
    PENALTIES,
    DistanceProbe,
    DistanceReadout,
)

PROBE = DistanceProbe(DistanceConfig(hidden=64, epochs=60))
EMBEDDING = np.random.default_rng(0).normal(size=(2, 24))


def planted(n: int, seed: int) -> ProbeDataset:
    """Distances from 1 to 20 steps: |x| + |y| of two numbers that the activations hold
    linearly.
    """
    rng = np.random.default_rng(seed)
    offsets = rng.integers(-10, 11, size=(n, 2))
    return ProbeDataset(
        inputs=(offsets @ EMBEDDING + rng.normal(scale=0.1, size=(n, 24))).astype(
            np.float32
        ),
        labels=np.column_stack(
            [
                np.abs(offsets).sum(axis=1),
                np.abs(offsets).sum(axis=1) + rng.normal(size=n),
                np.full(n, -1),
            ]
        ),
        groups=np.array([f"world{row // 2}" for row in range(n)]),
    )


def scores(
    variant: str, train: ProbeDataset, test: ProbeDataset
) -> dict[str, float | None]:
    readout = PROBE.fit(variant, train, np.random.default_rng(0))
    return {
        m.name: m.value for m in PROBE.score(readout, test, np.random.default_rng(0))
    }


def trajectory(*values: float | None) -> Trajectory:
    return episode_of([Move(action="LEFT", value=value) for value in values], world=3)


def test_labels_are_steps_to_the_goal() -> None:
    assert PROBE.labels(trajectory(-3.0, -2.0)).values.tolist() == [
        [3, -1, -1],
        [2, -1, -1],
    ]
    for unknown in (None, -np.inf):
        with pytest.raises(
            GdeError, match="episode 0/3/0 has turns without an optimal value"
        ):
            PROBE.labels(trajectory(-3.0, unknown))


FIRST = DistanceProbe(DistanceConfig(hidden=64, epochs=60, turns="first"))


def test_first_turns_alone_are_labelled_as_published() -> None:
    labels = FIRST.labels(trajectory(-3.0, -2.0, -1.0)).values
    assert labels[0].tolist() == [3, -1, -1]
    assert np.isnan(labels[1:]).all()
    # The goal may be better than nothing: a value above zero is no mark.
    assert FIRST.labels(trajectory(1.0)).values[0, 0] == -1


@pytest.mark.parametrize("variant", ["mlp", "linear"])
def test_turns_that_are_not_decoded_change_nothing(variant: str) -> None:
    """Every second turn is a later one, with activations that would mislead."""
    train, test = planted(200, 1), planted(60, 2)
    readout = FIRST.fit(variant, train, np.random.default_rng(0))
    alone = FIRST.score(readout, test, np.random.default_rng(0))

    train, test = with_later_turns(train), with_later_turns(test)
    readout = FIRST.fit(variant, train, np.random.default_rng(0))
    assert FIRST.score(readout, test, np.random.default_rng(0)) == alone
    decoded = readout.predict(test.inputs)
    scores = FIRST.turn_scores(decoded, test)
    for one in alone[:2]:
        of_turns = scores[one.name]
        assert np.isnan(of_turns[1::2]).all()
        assert np.mean(of_turns[::2]) == pytest.approx(one.value, abs=1e-5)


def with_later_turns(data: ProbeDataset) -> ProbeDataset:
    """Every turn is followed by one that is not decoded."""
    return ProbeDataset(
        inputs=np.repeat(data.inputs, 2, axis=0)
        * np.tile([1, -50], len(data.inputs))[:, None].astype(np.float32),
        labels=np.repeat(data.labels, 2, axis=0)
        + np.tile([0, np.nan], len(data.labels))[:, None],
        groups=np.repeat(data.groups, 2),
    )


def test_without_a_first_turn_there_is_a_reason() -> None:
    data = planted(20, 1)
    readout = FIRST.fit("linear", data, np.random.default_rng(0))
    later = with_later_turns(data).take(np.arange(1, 40, 2))
    with pytest.raises(ValueError, match="no training turn is decoded"):
        FIRST.fit("linear", later, np.random.default_rng(0))
    found = FIRST.score(readout, later, np.random.default_rng(0))
    assert [one.name for one in found] == ["mae", "r2"]
    for one in found:
        assert one.value is None
        assert "no held-out turn is decoded" in one.reason
    assert FIRST.turn_scores(readout.predict(later.inputs), later) == {}


def test_only_the_mlp_learns_a_distance_that_is_not_linear() -> None:
    train, test = planted(400, 1), planted(100, 2)
    mlp, linear = scores("mlp", train, test), scores("linear", train, test)
    assert (mlp["mae"] or 9) < 1.5
    assert (mlp["r2"] or 0) > 0.8
    assert (linear["mae"] or 0) > 2.5
    assert abs(linear["r2"] or 0) < 0.1


def test_manhattan_distance_and_length_of_the_answer_are_beside_it() -> None:
    world = World(id="w", facts={"rows": ["#####", "#___#", "#####"], "goal": [1, 3]})
    completion = Completion(text="", reasoning=None, finish="stop", n_completion=12)
    walked = trajectory(-2.0)
    turn = replace(
        walked.turns[0],
        state=State(facts={"agent": [1, 1]}),
        decision=Decision.act("RIGHT", completion),
    )
    assert PROBE.labels(
        replace(walked, world=world, turns=(turn,))
    ).values.tolist() == [[2, 2, 12]]


def test_readers_without_activations_are_measured_beside() -> None:
    train, test = planted(400, 1), planted(100, 2)
    readout = PROBE.fit("linear", train, np.random.default_rng(0))
    found = {
        one.name: one for one in PROBE.score(readout, test, np.random.default_rng(0))
    }
    assert (
        found["r2.manhattan"].value or 0
    ) > 0.9  # planted with a standard error of 1
    assert abs(found["r2.mean"].value or 0) < 0.05
    assert (
        found["mae.length"].reason == found["r2.length"].reason == "length is not known"
    )


def test_ridge_finds_what_is_linear_among_far_more_activations_than_turns() -> None:
    rng = np.random.default_rng(3)
    inputs = rng.normal(size=(120, 400)).astype(np.float32)
    inputs[:, 0] *= 30
    steps = 10 + 2 * inputs[:, 0] / 30 * 3 + rng.normal(scale=0.5, size=120)
    inputs[:, 1:60] += inputs[:, :1] / 30 * 2
    labels = np.column_stack([steps, steps, np.full(120, -1)])
    data = ProbeDataset(
        inputs=inputs, labels=labels, groups=np.array([f"w{row}" for row in range(120)])
    )
    found = scores("linear", data.take(np.arange(80)), data.take(np.arange(80, 120)))
    assert (found["r2"] or 0) > 0.85


@pytest.mark.parametrize("width", [8, 60], ids=["more turns", "more activations"])
def test_its_penalty_predicts_left_out_worlds_best(width: int) -> None:
    """Turns of a world share what tells its distance; leaving out single ones asks for
    a smaller penalty.
    """
    rng = np.random.default_rng(3)
    inputs = (
        rng.normal(size=(10, width)).repeat(4, axis=0)
        + 0.3 * rng.normal(size=(40, width))
    ).astype(np.float32)
    steps = 10 + inputs[:, 0] + 3 * rng.normal(size=10).repeat(4)
    worlds = np.array([f"w{row // 4}" for row in range(40)])
    data = ProbeDataset(
        inputs=inputs, labels=np.column_stack([steps, steps, steps]), groups=worlds
    )
    weights = PROBE.fit("linear", data, rng).arrays()
    scored = ((inputs - weights["mean"]) / weights["scale"]).astype(np.float64)
    splits, loss = (
        list(LeaveOneGroupOut().split(scored, groups=worlds)),
        "neg_mean_squared_error",
    )
    losses = [
        cross_val_score(
            Ridge(alpha=each), scored, steps, cv=splits, scoring=loss
        ).mean()
        for each in PENALTIES
    ]
    best = PENALTIES[int(np.argmax(losses))]
    expected = Ridge(alpha=best).fit(scored, steps)
    np.testing.assert_allclose(weights["activation"][:, 0], expected.coef_, atol=1e-5)
    np.testing.assert_allclose(weights["bias"], expected.intercept_, rtol=1e-5)
    assert RidgeCV(alphas=PENALTIES).fit(scored, steps).alpha_ < best < max(PENALTIES)


def test_one_world_chooses_no_penalty() -> None:
    for n in (1, 2):
        with pytest.raises(
            ValueError, match="left-out worlds: wanted 2 to train on, got 1"
        ):
            PROBE.fit("linear", planted(n, 1), np.random.default_rng(0))


@pytest.mark.parametrize("variant", ["mlp", "linear"])
def test_a_constant_is_learned_in_steps(variant: str) -> None:
    data = replace(planted(50, 1), labels=np.full((50, 3), 7.0))
    readout = PROBE.fit(variant, data, np.random.default_rng(0))
    np.testing.assert_allclose(readout.predict(data.inputs), 7, atol=0.5)
    r2 = PROBE.score(readout, data, np.random.default_rng(0))[1]
    assert r2.value is None
    assert r2.reason == "all held-out distances are equal"


@pytest.mark.parametrize("variant", ["mlp", "linear"])
def test_a_readout_is_rebuilt_from_its_arrays(variant: str) -> None:
    data = planted(20, 1)
    readout = PROBE.fit(variant, data, np.random.default_rng(0))
    rebuilt = DistanceReadout.from_arrays(readout.arrays())
    assert readout.predict(data.inputs).shape == (20,)
    assert (rebuilt.predict(data.inputs) == readout.predict(data.inputs)).all()


def test_activations_that_are_not_finite_are_refused() -> None:
    data = planted(4, 1)
    with pytest.raises(ValueError, match="undefined value in row 0"):
        PROBE.fit(
            "mlp",
            replace(data, inputs=np.full_like(data.inputs, np.nan)),
            np.random.default_rng(0),
        )
