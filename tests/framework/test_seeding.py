"""Seeds depend on the place they are for, and on nothing else."""

import os
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from gde.seeding import derive, generator, pick
from gde.validating import Text

keys = st.lists(st.one_of(st.integers(), st.text(max_size=5)), max_size=4).map(tuple)


@given(seed=st.integers(0, 2**63), a=keys, b=keys)
def test_different_places_get_different_seeds(
    seed: int, a: tuple[str | int, ...], b: tuple[str | int, ...]
) -> None:
    typed = [tuple((type(part), part) for part in key) for key in (a, b)]
    separators = any("\x1f" in part for part in (*a, *b) if isinstance(part, str))
    assert separators or (derive(seed, *a) == derive(seed, *b)) == (
        typed[0] == typed[1]
    )


@given(seed=st.integers(0, 2**63), key=keys)
def test_seeds_fit_sixty_three_bits(seed: int, key: tuple[str | int, ...]) -> None:
    assert 0 <= derive(seed, *key) < 2**63


def test_the_stream_is_the_same_in_every_process() -> None:
    code = "from gde.seeding import generator; print(generator(7, 'agent', 3).integers(2**60))"
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert runs == {f"{generator(7, 'agent', 3).integers(2**60)}\n".encode()}


def test_a_name_from_a_file_gives_the_stream_of_the_same_name() -> None:
    assert derive(1, "reward", Text("random")) == derive(1, "reward", "random")
    assert derive(1, "1") != derive(1, 1)


@given(st.integers(1, 9))
def test_an_option_is_picked_by_the_generator_alone(n: int) -> None:
    options = [*range(n)]
    picked = {pick(options, generator(seed, "pick")) for seed in range(99)}
    assert picked == {*options}
    assert pick(options, generator(0, "a")) == pick(options, generator(0, "a"))
