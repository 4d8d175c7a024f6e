"""Corrections agree with statsmodels and leave out what was not tested."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gde.numerics.stats import adjusted, benjamini_hochberg, holm

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@pytest.mark.parametrize(
    ("adjust", "method"), [(holm, "holm"), (benjamini_hochberg, "fdr_bh")]
)
def test_corrections_agree_with_statsmodels(
    adjust: object, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from statsmodels.stats.multitest import multipletests

    # It collects garbage at every call: in a large process, a second each time.
    monkeypatch.setattr("gc.collect", lambda: 0)

    @settings(max_examples=60)
    @given(P_VALUES)
    def agree(p_values: list[float]) -> None:
        assert callable(adjust)
        assert adjust(p_values) == pytest.approx(
            tuple(multipletests(p_values, method=method)[1])
        )

    agree()


@given(P_VALUES)
def test_corrected_values_are_no_smaller_and_keep_their_order(
    p_values: list[float],
) -> None:
    for corrected in (holm(p_values), benjamini_hochberg(p_values)):
        assert all(p <= q + 1e-12 for p, q in zip(p_values, corrected, strict=True))
        ranked = [q for _, q in sorted(zip(p_values, corrected, strict=True))]
        assert ranked == sorted(ranked)
    assert all(
        q <= h + 1e-12
        for h, q in zip(holm(p_values), benjamini_hochberg(p_values), strict=True)
    )


def test_what_was_not_tested_is_no_member_of_the_family() -> None:
    assert adjusted([0.01, None, 0.04], holm) == (0.02, None, 0.04)
    assert adjusted([None, None], benjamini_hochberg) == (None, None)
    assert holm([]) == benjamini_hochberg([]) == ()
