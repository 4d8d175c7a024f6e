"""A planted plan is decoded as far as it is planted, and no further."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gde.data.observation import Observation
from gde.data.probe import ProbeDataset
from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.stages.controls import exchanged
from gde.testing.samples import sample_evidence
from gde_plugins.probes.config import PlanConfig
from gde_plugins.probes.plans.probe import PlanProbe
from gde_plugins.probes.plans.scores import score_plans

CONFIG = PlanConfig(
    width=32,
    depth=1,
    heads=4,
    horizon=6,
    epochs=12,
    batch=25,
    dropout=0.0,
    learning_rate=3e-3,
)
PROBE = PlanProbe(CONFIG)
ACTIONS = ("UP", "DOWN", "LEFT")
END, OVER = 0, -1
PLANTED, WIDTH = 2, 24


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def planted(n: int, seed: int) -> ProbeDataset:
    """Plans of 3 to 5 random actions, of which the second of one to three tokens holds
    the first two.
    """
    random = np.random.default_rng(seed)
    embedding = np.random.default_rng(0).normal(size=(PLANTED, len(ACTIONS), WIDTH))
    plans = np.full((n, CONFIG.horizon), OVER)
    tokens = random.normal(scale=0.3, size=(n, 3, WIDTH)).astype(np.float32)
    for row in range(n):
        length = int(random.integers(3, 6))
        plans[row, :length], plans[row, length] = (
            1 + random.integers(len(ACTIONS), size=length),
            END,
        )
        tokens[row, row % 2] += sum(
            embedding[place, plans[row, place] - 1] for place in range(PLANTED)
        )
        tokens[row, 2 + row % 2 :] = np.nan
    groups = np.array([f"world{seed}-{row // 2}" for row in range(n)])
    return ProbeDataset(inputs=tokens, labels=plans, groups=groups)


def test_a_planted_plan_is_decoded_to_its_planted_horizon() -> None:
    train, test = planted(500, 1), planted(200, 2)
    readout = PROBE.fit("oneshot", train, rng())
    found = {one.name: one.value or 0 for one in PROBE.score(readout, test, rng())}
    assert found["prefix.1"] > 0.9
    assert found["prefix.2"] > 0.85
    assert found["prefix.3"] < 0.5  # a guess among three
    assert found["marginal.1"] < 0.5
    assert found["random.2"] == pytest.approx(1 / 9)
    loaded = PROBE.load("oneshot", readout.arrays())
    assert (loaded.predict(test.inputs) == readout.predict(test.inputs)).all()


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize(
    "broken", [np.s_[0, 0], np.s_[0], np.s_[:], np.s_[1, 3]], ids=str
)
def test_activations_that_are_not_finite_are_refused(broken: Any, value: float) -> None:
    """A number of a token, its first token, all of them, one of its last; whole tokens
    after it are padding.
    """
    data = planted(4, 1)
    readout = PROBE.fit("oneshot", data, rng())
    inputs = np.array(data.inputs)
    inputs[(2, *broken) if isinstance(broken, tuple) else (2, broken)] = value
    for refused in (
        lambda: readout.predict(inputs),
        lambda: PROBE.fit("oneshot", replace(data, inputs=inputs), rng()),
    ):
        with pytest.raises(ValueError, match="infinite or undefined value in row 2"):
            refused()


def test_shuffled_activations_hold_no_plan() -> None:
    train, test = planted(400, 1), planted(200, 2)
    shuffled = replace(train, labels=rng().permutation(train.labels))
    found = {
        one.name: one.value or 0
        for one in PROBE.score(PROBE.fit("oneshot", shuffled, rng()), test, rng())
    }
    assert found["prefix.1"] < 0.5


def test_exchanged_plans_are_those_of_one_other_world() -> None:
    """Worlds have different numbers of turns. Those without a plan, which are too far
    from the end, keep none.
    """
    names, lengths = ("one", "two", "three"), (3, 5, 8)
    random = np.random.default_rng(0)
    labels = [
        PROBE.labels(walked(*random.choice(ACTIONS, size=n).tolist())).values
        for n in lengths
    ]
    data = ProbeDataset(
        inputs=np.zeros((sum(lengths), 1, WIDTH), np.float32),
        labels=np.concatenate(labels),
        groups=np.repeat(names, lengths),
    )
    without = np.isnan(data.labels).any(axis=1)
    assert 0 < without.sum() < len(without)
    plans = {}
    for name in names:
        plans[name] = [*map(tuple, data.labels[(data.groups == name) & ~without])]

    taken: set[tuple[str, str]] = set()
    kept_order = 0
    for seed in range(20):
        train = exchanged(data, np.random.default_rng(seed))
        assert np.array_equal(np.isnan(train.labels).any(axis=1), without)
        assert np.array_equal(train.groups, data.groups)
        given = []
        for name in names:
            own = [*map(tuple, train.labels[(data.groups == name) & ~without])]
            (other,) = [each for each in names if {*own} <= {*plans[each]}]
            given.append(other)
            # In any order, from the first again after the last.
            n_times = Counter(own)
            assert len(own) == len(plans[name])
            assert max(n_times.values()) - min(n_times.values()) <= 1
            assert len(n_times) == min(len(own), len({*plans[other]}))
            kept_order += own == plans[other][: len(own)]
        # Each world's plans go to one world.
        assert sorted(given) == sorted(names)
        taken.update(zip(names, given, strict=True))
    assert len(taken) == len(names) ** 2
    assert kept_order < 20


def walked(*actions: str | None) -> Trajectory:
    """An episode with these actions; None is an answer that could not be used."""
    sample = next(one for one in sample_evidence().trajectories if one.turns)
    turn = replace(sample.turns[0], observation=Observation(text="", actions=ACTIONS))
    decided = [
        type(turn.decision).act(action)
        if action
        else type(turn.decision).unusable("unparsable", "no action")
        for action in actions
    ]
    return replace(
        sample,
        turns=tuple(
            replace(turn, index=i, decision=one) for i, one in enumerate(decided)
        ),
    )


def test_labels_are_the_actions_taken_and_the_end() -> None:
    labels = PROBE.labels(walked("UP", None, "LEFT"))
    assert labels.values.tolist() == [
        [1, 3, END, OVER, OVER, OVER],
        [3, END, OVER, OVER, OVER, OVER],
        [3, END, OVER, OVER, OVER, OVER],
    ]
    first = (
        PlanProbe(replace(CONFIG, turns="first")).labels(walked("UP", "LEFT")).values
    )
    assert np.isnan(first[1]).all() and (first[0, :3] == [1, 3, END]).all()


def test_plans_that_are_too_long_are_left_out() -> None:
    labels = PROBE.labels(walked(*["UP"] * 7)).values
    assert np.isnan(labels[:2]).all()
    assert labels[2].tolist() == [1, 1, 1, 1, 1, END]
    none = replace(planted(4, 1), labels=np.full((4, CONFIG.horizon), np.nan))
    with pytest.raises(
        ValueError, match="no training turn has fewer than 6 future actions"
    ):
        PROBE.fit("oneshot", none, rng())
    (unmeasured,) = PROBE.score(PROBE.fit("oneshot", planted(8, 1), rng()), none, rng())
    assert (
        unmeasured.reason
        == "no held-out turn has fewer future actions than are decoded"
    )


def test_an_environment_that_does_not_tell_its_actions_is_named() -> None:
    episode = walked("UP")
    silent = replace(episode.turns[0], observation=Observation(text=""))
    with pytest.raises(
        GdeError, match=r"plan: wanted an environment that lists the same actions"
    ):
        PROBE.labels(replace(episode, turns=(silent,)))


def test_prefixes_and_lengths_of_small_plans() -> None:
    plans = np.array([[1, 2, END, OVER], [3, END, OVER, OVER]])
    decoded = np.eye(4, dtype=np.float32)[[[1, 2, 2, END], [3, 1, END, END]]]
    marginal = np.eye(4, dtype=np.float32)[[1, END, END, END]]
    found = {
        one.name: one.value
        for one in score_plans(decoded, plans, marginal, np.array(["a", "b"]), rng())
    }
    assert [found[f"prefix.{n}"] for n in (1, 2, 3, 4)] == [1.0, 0.5, 0.0, None]
    assert [found[f"marginal.{n}"] for n in (1, 2)] == [0.5, 0.0]
    lengths = [
        found[f"length.{name}"]
        for name in ("exact", "decoded", "true", "bias", "error")
    ]
    assert lengths == [0.0, 2.5, 1.5, 1.0, 1.0]
