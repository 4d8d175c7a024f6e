"""The paired test of a probe against its controls: what it finds, what it leaves, and
how often it is wrong.
"""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from gde.data.json import Labels
from gde.data.measure import Better, Measure, Measures
from gde.data.probe import CodedTurns, Control, Fit, ProbeReport
from gde.data.result import Measurement
from gde.data.verdict import Verdict, outcome_of
from gde.numerics.controls import compare_with_control
from gde.stages.verdicts import results

OURS = Fit(probe="p", variant="v", layer=1, position="pre")
TURNS = 3
"""Turns of each world."""
SINGLE: tuple[Control, int] = ("no_activations", 1)
SEVERAL: tuple[Control, int] = ("untrained", 5)
"""Controls with their draws."""


def report(
    control: Control, scores: NDArray[np.float64], name: str = "error"
) -> ProbeReport:
    """A report with scores (K, worlds * TURNS), the mean of which is its number."""
    n = scores.shape[1]
    value = float(np.nanmean(scores))
    return ProbeReport(
        fit=replace(OURS, control=control),
        measurements=(Measurement(name=name, value=value, unit="cells", n=n),),
        n_train=9,
        n_test=n,
        rows=tuple((f"0/{i // TURNS}/0", i % TURNS) for i in range(n)),
        decoded=np.zeros((n, 1), np.float32),
        worlds=tuple(f"w{i // TURNS}" for i in range(n)),
        scores={name: scores.astype(np.float32)},
    )


def verdicts(
    *reports: ProbeReport, better: Better = "less", headline: bool = True
) -> dict[str, Verdict | None]:
    """The verdict of each control, and that of the probe as "none"."""
    measure = Measure(name="p.error", title="Error", better=better, headline=headline)
    found = results(reports, Measures((measure,)), seed=0)
    return {str(one.where["control"]): one.verdict for one in found}


def noise(
    rng: np.random.Generator, mean: float, worlds: int = 20, draws: int = 1
) -> NDArray[np.float64]:
    """Scores that share the difficulty of each world and differ by turn."""
    difficulty = np.random.default_rng(5).normal(scale=2, size=worlds)
    of_turns = np.repeat(difficulty, TURNS)
    return mean + of_turns + rng.normal(scale=0.3, size=(draws, worlds * TURNS))


@pytest.mark.parametrize(
    ("control", "draws", "outside", "assumes"),
    [
        ("no_activations", 1, None, ""),
        ("conditions", 1, None, ""),
        ("shuffled", 5, True, "normal"),
        ("untrained", 19, True, "normal"),
    ],
)
def test_a_difference_within_worlds_is_found_though_intervals_overlap(
    control: Control, draws: int, outside: bool | None, assumes: str
) -> None:
    """Worlds differ by 2, the fits by .5 in every one of them."""
    rng = np.random.default_rng(0)
    found = verdicts(
        report("none", noise(rng, 1.0)), report(control, noise(rng, 1.5, draws=draws))
    )
    one = found[control]
    assert one is not None
    assert one == found["none"]
    assert one.outcome == "better"
    assert one.difference == pytest.approx(-0.5, abs=0.15)
    assert one.interval is not None and one.interval[1] < 0
    assert one.p is not None and one.p < 0.001
    assert one.worlds == 20
    assert (one.draws, one.outside, one.assumes) == (draws, outside, assumes)


@pytest.mark.parametrize(("control", "draws"), [SINGLE, SEVERAL])
@pytest.mark.parametrize(
    ("better", "outcome"), [("less", "worse"), ("more", "better"), ("", "different")]
)
def test_the_outcome_follows_the_better_direction(
    better: Better, outcome: str, control: Control, draws: int
) -> None:
    rng = np.random.default_rng(1)
    found = verdicts(
        report("none", noise(rng, 2.0)),
        report(control, noise(rng, 1.0, draws=draws)),
        better=better,
    )
    assert found["none"] is not None
    assert found["none"].outcome == outcome


def test_the_difference_is_that_of_the_numbers_shown() -> None:
    """Worlds have unequal turns, and every turn counts the same."""
    rng = np.random.default_rng(2)
    counted = np.arange(20 * TURNS) % 7 < 4
    scores = [np.where(counted, noise(rng, mean), np.nan) for mean in (1.0, 2.0)]
    ours, control = report("none", scores[0]), report("conditions", scores[1])
    found = verdicts(ours, control)["none"]
    shown = [each.measurements[0].value for each in (ours, control)]
    assert found is not None
    assert found.difference == pytest.approx(shown[0] - shown[1], abs=1e-6)  # type: ignore[operator]


def test_the_probe_is_compared_with_its_strongest_control() -> None:
    rng = np.random.default_rng(3)
    found = verdicts(
        report("none", noise(rng, 1.0)),
        report("no_activations", noise(rng, 5.0)),
        report("untrained", noise(rng, 1.4, draws=19)),
        report("shuffled", noise(rng, 3.0, draws=5)),
    )
    assert found["none"] is not None
    assert found["none"].control == "untrained"
    assert found["none"] == found["untrained"]
    assert found["no_activations"] is not None
    assert found["no_activations"].difference == pytest.approx(-4, abs=0.3)


def test_p_values_are_corrected_for_the_headlines_against_the_same_control() -> None:
    rng = np.random.default_rng(4)
    ours = report("none", noise(rng, 1.0))
    control = report("conditions", noise(rng, 1.1))
    alone = verdicts(ours, control)["conditions"]
    other = replace(control, fit=replace(OURS, control="no_activations"))
    beside = verdicts(ours, control, other)["conditions"]
    assert beside == alone

    several = [
        replace(each, scores=dict.fromkeys(("error", "e2"), each.scores["error"]))
        for each in (ours, control)
    ]
    measures = [
        Measure(name=f"p.{name}", title=name, better="less", headline=True)
        for name in ("error", "e2")
    ]
    found, *_ = [
        one.verdict
        for one in results(several, Measures(tuple(measures)), seed=0)
        if one.verdict
    ]
    assert alone is not None and alone.p is not None and found.p is not None
    assert found.p == pytest.approx(2 * alone.p, rel=0.3)


@pytest.mark.parametrize(
    ("effect", "alone", "beside_another"),
    [(0.13, "none", "none"), (0.19, "better", "none"), (0.25, "better", "better")],
)
def test_the_outcome_is_that_of_the_corrected_p_value(
    effect: float, alone: str, beside_another: str
) -> None:
    """The p values of one headline are .10, .03 and .01."""
    measures = [
        Measure(name=f"p.{name}", title=name, better="less", headline=True)
        for name in ("error", "e2")
    ]
    for names, outcome in (
        (("error",), alone),
        (("error", "e2"), beside_another),
    ):
        rng = np.random.default_rng(15)
        reports = []
        for one in (
            report("none", noise(rng, 0.0)),
            report("untrained", noise(rng, effect, draws=5)),
        ):
            scores = dict.fromkeys(names, one.scores["error"])
            reports.append(replace(one, scores=scores))
        (found, _) = results(reports, Measures(tuple(measures)), seed=0)
        assert found.verdict is not None and found.verdict.p is not None
        assert found.verdict.outside
        assert found.verdict.outcome == outcome
        assert (found.verdict.p < 0.05) == (outcome == "better")


def test_a_p_value_of_one_in_twenty_is_no_finding() -> None:
    assert outcome_of(1.0, 0.05, "more") == "none"
    assert outcome_of(1.0, None, "more") == "untested"
    assert outcome_of(1.0, 0.0499, "more") == "better"


def test_without_a_better_direction_the_nearest_control_is_the_strongest() -> None:
    rng = np.random.default_rng(16)
    found = verdicts(
        report("none", noise(rng, 1.0)),
        report("untrained", noise(rng, 0.6, draws=5)),
        report("shuffled", noise(rng, 3.0, draws=5)),
        better="",
    )["none"]
    assert found is not None
    assert found.control == "untrained"


def test_few_worlds_are_not_tested() -> None:
    rng = np.random.default_rng(5)
    for worlds, (control, draws) in product((5, 6), (SINGLE, SEVERAL)):
        found = verdicts(
            report("none", noise(rng, 1.0, worlds)),
            report(control, noise(rng, 9.0, worlds, draws)),
        )["none"]
        assert found is not None
        tested = worlds >= 6
        assert (found.p is not None) == tested
        assert (found.interval is not None) == tested
        assert found.outcome == ("better" if tested else "untested")
        assert found.reason == ("" if tested else "5 worlds; a test needs 6")


def test_equal_scores_are_no_difference() -> None:
    scores = noise(np.random.default_rng(6), 1.0)
    for control, draws in (SINGLE, SEVERAL):
        same = report(control, np.repeat(scores, draws, axis=0))
        found = verdicts(report("none", scores), same)["none"]
        assert found is not None
        assert (found.outcome, found.p) == ("untested", None)
        assert found.difference == pytest.approx(0, abs=1e-12)
        assert found.reason
        assert "not measured" not in found.reason
        assert "verdict needs" not in found.reason


@pytest.mark.parametrize(("control", "draws"), [SINGLE, SEVERAL, ("shuffled", 19)])
def test_the_detectable_difference_is_further_than_the_interval(
    control: Control, draws: int
) -> None:
    """With a power of one half it would be as far."""
    rng = np.random.default_rng(18)
    found = verdicts(
        report("none", noise(rng, 1.0)), report(control, noise(rng, 1.0, 20, draws))
    )["none"]
    assert found is not None
    assert found.interval is not None and found.detectable is not None
    low, high = found.interval
    assert (high - low) / 2 < found.detectable < high - low


def test_only_headlines_with_scores_have_a_verdict() -> None:
    rng = np.random.default_rng(7)
    ours = report("none", noise(rng, 1.0))
    control = report("shuffled", noise(rng, 2.0, draws=5))
    assert None not in verdicts(ours, control).values()
    assert set(verdicts(ours, control, headline=False).values()) == {None}
    assert set(verdicts(ours, replace(control, scores={})).values()) == {None}
    other = replace(control, fit=replace(control.fit, layer=2))
    assert set(verdicts(ours, other).values()) == {None}


def test_turns_that_a_control_lacks_are_left_out() -> None:
    rng = np.random.default_rng(8)
    ours = report("none", noise(rng, 1.0))
    control = report("shuffled", noise(rng, 2.0, draws=5))
    n = 12 * TURNS
    fewer = replace(
        control,
        rows=control.rows[:n],
        worlds=control.worlds[:n],
        scores={"error": control.scores["error"][:, :n]},
    )
    found = verdicts(ours, fewer)["none"]
    assert found is not None
    assert found.worlds == 12
    assert found.difference == pytest.approx(-1, abs=0.15)


def of_turns(whole: ProbeReport, kept: list[int]) -> ProbeReport:
    """The report of some of its turns."""
    return replace(
        whole,
        rows=tuple(whole.rows[i] for i in kept),
        worlds=tuple(whole.worlds[i] for i in kept),
        scores={name: each[:, kept] for name, each in whole.scores.items()},
    )


def test_turns_are_paired_by_their_rows_whichever_either_side_lacks() -> None:
    """The control lacks four worlds and one turn in five, and the model two worlds."""
    rng = np.random.default_rng(17)
    ours = of_turns(
        report("none", noise(rng, 1.0)),
        [i for i in range(20 * TURNS) if i // TURNS not in (8, 9)],
    )
    control = report("untrained", noise(rng, 2.0, draws=5))
    # One initialisation has no score in the last world.
    control.scores["error"][1, -TURNS:] = np.nan
    fewer = of_turns(control, [i for i in range(4 * TURNS, 20 * TURNS) if i % 5])
    found = verdicts(ours, fewer)["none"]
    assert found is not None
    assert found.worlds == 13
    # Turns of other worlds would differ by the difficulty of these.
    assert found.difference == pytest.approx(-1, abs=0.1)
    assert found.interval is not None
    assert found.interval[1] - found.interval[0] < 1


def test_the_variance_of_initialisations_widens_interval_and_p() -> None:
    """Five initialisations that differ as much as the model from them are no proof."""
    rng = np.random.default_rng(9)
    ours = report("none", noise(rng, 1.0))
    spread = np.array([-2, -1, 0, 1, 2])
    alike, unlike = (
        np.concatenate([noise(rng, mean) for mean in 2.0 + factor * spread])
        for factor in (0.1, 0.4)
    )
    close = verdicts(ours, report("untrained", alike))["none"]
    apart = verdicts(ours, report("untrained", unlike))["none"]
    assert close is not None and apart is not None
    assert close.draws == apart.draws == 5
    assert close.difference == pytest.approx(apart.difference, abs=0.1)
    # The number is outside both ranges: p alone tells them apart.
    assert close.outside and apart.outside
    assert (close.outcome, apart.outcome) == ("better", "none")
    assert apart.p is not None and apart.p >= 0.05
    assert apart.interval is not None and apart.interval[1] > 0


def drawn(
    ours: float, *means: float, control: Control = "untrained", better: Better = "less"
) -> Verdict:
    """The verdict on a number against draws with these means."""
    rng = np.random.default_rng(20)
    controls = np.concatenate([noise(rng, mean) for mean in means])
    found = verdicts(
        report("none", noise(rng, ours)), report(control, controls), better=better
    )["none"]
    assert found is not None
    return found


@pytest.mark.parametrize("control", ["untrained", "shuffled"])
@pytest.mark.parametrize("better", ["less", "more", ""])
@pytest.mark.parametrize("direction", [1, -1])
def test_a_number_inside_the_range_of_draws_is_never_called(
    control: Control, better: Better, direction: int
) -> None:
    """Of 19 draws 18 are at 2, and one is further away than the number."""
    alike = [2.0] * 18
    ours = 2.0 + direction
    found = drawn(ours, *alike, 2.0 + 1.2 * direction, control=control, better=better)
    assert found.p is not None and found.p < 0.01
    assert (found.outside, found.outcome) == (False, "none")
    found = drawn(ours, *alike, 2.0 + 0.7 * direction, control=control, better=better)
    assert found.p is not None and found.p < 0.01
    called = "different"
    if better:
        called = "better" if (direction > 0) == (better == "more") else "worse"
    assert (found.outside, found.outcome) == (True, called)


def test_whatever_p_only_numbers_outside_all_draws_are_called() -> None:
    """With draws of heavy tails, in which a normal distribution finds too much."""
    rng = np.random.default_rng(21)
    kept = 0
    for _ in range(150):
        ours, *means = rng.standard_t(1.5, size=6)
        one = drawn(ours, *means)
        assert one.p is not None
        shown = one.outcome in ("better", "worse")
        assert shown == (one.p < 0.05 and bool(one.outside))
        kept += shown
    assert kept > 5


def test_a_number_equal_to_the_furthest_draw_is_not_outside() -> None:
    worlds = np.arange(10.0)
    controls = np.stack([worlds + mean for mean in (3, 4, 5, 5.5, 6)])
    for furthest, beyond in ((3, -1), (6, 1)):
        for step, outside in ((0.0, False), (0.01, True)):
            ours = worlds + furthest + beyond * step
            found = compare_with_control(
                "untrained", ours, controls, np.random.default_rng(0)
            )
            assert found.outside is outside


@pytest.mark.parametrize(
    ("control", "named"),
    [("untrained", "random initialisations"), ("shuffled", "exchanges of labels")],
)
def test_fewer_than_five_draws_give_a_reason_and_no_p(
    control: Control, named: str
) -> None:
    for n in (2, 3, 4, 5):
        found = drawn(1.0, *[9.0] * n, control=control)
        assert found.difference == pytest.approx(-8, abs=0.2)
        assert found.draws == n
        if n == 5:
            assert (found.outcome, found.reason) == ("better", "")
            continue
        assert (found.p, found.interval, found.detectable) == (None, None, None)
        assert (found.outcome, found.outside, found.assumes) == ("untested", None, "")
        assert found.reason == f"a verdict needs 5 {named}, got {n}"
    alone = drawn(1.0, 9.0, control=control)
    assert (alone.p, alone.outcome) == (None, "untested")
    assert alone.reason.startswith("a verdict needs 5")


def test_an_untested_control_is_not_corrected_for() -> None:
    rng = np.random.default_rng(22)
    ours, control = (
        report("none", noise(rng, 1.0)),
        report("conditions", noise(rng, 1.1)),
    )
    alone = verdicts(ours, control)["conditions"]
    few = report("untrained", noise(rng, 1.2, draws=4))
    assert verdicts(ours, control, few)["conditions"] == alone


def test_a_difference_is_found_below_a_p_of_one_in_twenty() -> None:
    rng = np.random.default_rng(12)
    found = []
    for effect in np.linspace(0.0, 0.2, 60):
        one = verdicts(
            report("none", noise(rng, 0.0)), report("conditions", noise(rng, effect))
        )["none"]
        assert one is not None and one.p is not None
        found.append((one.p, one.outcome))
    for p, outcome in found:
        assert (outcome == "none") == (p >= 0.05)
    # There are p values close to the bound on both sides.
    assert any(0.02 < p < 0.05 for p, _ in found)
    assert any(0.05 <= p < 0.1 for p, _ in found)


def rejected(
    effect: float, worlds: int, draws: int, spread: float, runs: int, tails: float = 1e6
) -> float:
    """The share of simulated runs in which the probe is called better or worse.

    The model is one more initialisation, but for the effect. Initialisations have
    Student's distribution with so many degrees of freedom: many make it normal.
    """
    rng = np.random.default_rng(10)
    control: Control = "untrained" if draws > 1 else "no_activations"
    called = 0
    for _ in range(runs):
        own, *means = spread * rng.standard_t(tails, size=1 + draws)
        controls = [noise(rng, effect + mean, worlds) for mean in means]
        found = verdicts(
            report("none", noise(rng, own, worlds)),
            report(control, np.concatenate(controls)),
        )["none"]
        assert found is not None
        assert found.outcome != "untested"
        called += found.outcome != "none"
    return called / runs


def test_every_condition_has_a_test_of_its_own_turns() -> None:
    """In the first of two conditions the probe is better, in the second it is not."""
    rng = np.random.default_rng(14)
    conditions: list[Labels] = [{"size": 5}, {"size": 7}]
    half = 20 * TURNS
    scores = {}
    for control, means in (("none", (1.0, 1.0)), ("conditions", (2.0, 1.0))):
        parts = [noise(rng, mean) for mean in means]
        scores[control] = np.concatenate(parts, axis=1)

    reports = []
    for control in ("none", "conditions"):
        whole = report(control, scores[control])  # type: ignore[arg-type]
        rows = [(f"{i // half}/{i // TURNS}/0", i % TURNS) for i in range(2 * half)]
        own = list(whole.measurements)
        for i, labels in enumerate(conditions):
            mean = float(scores[control][:, i * half : (i + 1) * half].mean())
            # The scale of the second number is not that of its scores.
            for name, factor in (("error", 1.0), ("scaled", 2.0)):
                one = replace(own[0], name=name, value=factor * mean, where=labels)
                own.append(one)
        several = dict.fromkeys(("error", "scaled"), whole.scores["error"])
        reports.append(
            replace(whole, measurements=tuple(own), rows=tuple(rows), scores=several)
        )

    measures = [
        Measure(name=f"p.{name}", title=name, better="less", headline=True)
        for name in ("error", "scaled")
    ]
    meanings = Measures(tuple(measures))
    found = {}
    for one in results(reports, meanings, 0, conditions):
        if one.where["control"] == "none" and "size" in one.where:
            found[one.name, one.where["size"]] = one.verdict
    small, large = found["p.error", 5], found["p.error", 7]
    assert small is not None and large is not None
    assert (small.outcome, small.worlds) == ("better", 20)
    assert (large.outcome, large.worlds) == ("none", 20)
    assert found["p.scaled", 5] is None


def test_the_worlds_of_a_condition_are_its_own_and_codes_are_of_the_whole_run() -> None:
    """The first condition has three turns of each world, the second one."""
    rng = np.random.default_rng(19)
    conditions: list[Labels] = [{"size": 5}, {"size": 7}]
    n = 20 * TURNS + 20
    rows = [(f"0/{i // TURNS}/0", i % TURNS) for i in range(20 * TURNS)]
    rows += [(f"1/{i}/0", 0) for i in range(20)]
    worlds = [f"w{i // TURNS}" for i in range(20 * TURNS)]
    worlds += [f"w{i}" for i in range(20)]

    reports = []
    for control, mean, draws in (("none", 0.0, 1), ("untrained", 0.1, 5)):
        scores = rng.normal(mean, 0.3, size=(draws, n)).astype(np.float32)
        own = []
        for labels, part in zip(
            conditions, (scores[:, :-20], scores[:, -20:]), strict=True
        ):
            value = float(part.mean())
            own.append(
                Measurement(name="error", value=value, unit="", n=9, where=labels)
            )
        coded = CodedTurns(
            rows=tuple(rows), worlds=tuple(worlds), scores={"code": scores}
        )
        whole = ProbeReport(
            fit=replace(OURS, control=control),  # type: ignore[arg-type]
            measurements=tuple(own),
            n_train=9,
            n_test=n,
            rows=tuple(rows),
            decoded=np.zeros((n, 1), np.float32),
            worlds=tuple(worlds),
            scores={"error": scores},
            coded=coded,
        )
        reports.append(whole)

    measures = [
        Measure(name=f"p.{name}", title=name, better="less", headline=True)
        for name in ("error", "code")
    ]
    meanings = Measures(tuple(measures))
    of_size = {}
    for one in results(reports, meanings, 0, conditions):
        if one.where["control"] == "untrained":
            of_size[one.where["size"]] = one.verdict
    uncoded = [replace(whole, coded=CodedTurns()) for whole in reports]
    for one in results(uncoded, meanings, 0, conditions):
        if one.where["control"] == "untrained":
            # The code of the whole run is not corrected for again.
            assert one.verdict == of_size[one.where["size"]]
    for verdict in of_size.values():
        assert verdict is not None and verdict.p is not None
        assert verdict.worlds == 20


@pytest.mark.extended
@pytest.mark.parametrize("worlds", [6, 12, 60])
@pytest.mark.parametrize(
    ("draws", "spread"),
    [(1, 0.0), (5, 0.0), (5, 0.1), (5, 1.0), (19, 0.0), (19, 0.1), (19, 1.0)],
)
def test_at_most_one_verdict_in_twenty_is_false(
    worlds: int, draws: int, spread: float
) -> None:
    """The share stays below 5 % and two standard errors of 600 runs."""
    assert rejected(0.0, worlds, draws, spread, runs=600) <= 0.05 + 0.018


@pytest.mark.extended
@pytest.mark.parametrize("draws", [5, 19])
def test_draws_of_heavy_tails_are_no_more_often_outside_than_any(draws: int) -> None:
    """One of 1 + draws is the least or the greatest in two of as many cases."""
    bound = 2 / (1 + draws)
    error = np.sqrt(bound * (1 - bound) / 400)
    assert rejected(0.0, 12, draws, 1.0, runs=400, tails=1.5) <= bound + 2 * error


@pytest.mark.extended
def test_the_power_is_as_said() -> None:
    """A difference as large as the detectable one is found in four runs of five."""
    rng = np.random.default_rng(11)
    detectable = []
    for _ in range(20):
        found = verdicts(
            report("none", noise(rng, 0.0, 60)),
            report("no_activations", noise(rng, 0.0, 60)),
        )["none"]
        assert found is not None and found.detectable is not None
        detectable.append(found.detectable)
    power = rejected(float(np.mean(detectable)), 60, 1, 0.0, runs=300)
    assert power == pytest.approx(0.8, abs=0.1)
