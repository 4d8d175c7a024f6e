"""Rows of decoded distances and plans (Arghal et al. 2026, section 5.3, appendices F.3
and F.4).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gde.data.json import Labels
from gde.data.probe import CONTROLS
from gde.data.result import Measurement
from gde.parts.reproduction import Comparison
from gde_plugins.grid_studies.cogmap_study import ByForm, as_published, of_form
from gde_plugins.grid_studies.config import Turns
from gde_plugins.grid_studies.lookup import find

POSITIONS: Mapping[str, str] = {"pre": "before reasoning", "post": "after reasoning"}
TABLE_5: Mapping[tuple[str, str], tuple[float, float]] = {
    ("mlp", "pre"): (3.16, 0.40),
    ("mlp", "post"): (2.67, 0.36),
    ("linear", "pre"): (3.40, 0.42),
    ("linear", "post"): (3.13, 0.47),
}
"""Variant and position to mean absolute error and R2."""
READERS = ("mean", "manhattan", "length")
HORIZON = 10
"""Number of decoded actions, the end of the episode counted as one."""
PREFIXES: Mapping[str, Mapping[int, float]] = {
    "pre": {1: 0.4031},
    "post": {1: 0.5392},
}
"""Position to the printed prefix accuracies, by length; the others are lost in the text
that we have.
"""
GUESSES = ("random", "marginal")
LENGTHS: Mapping[str, Mapping[str, float]] = {
    "pre": {"exact": 0.1571, "decoded": 4.81, "true": 4.93, "error": 1.0},
    "post": {"exact": 0.1885, "decoded": 5.05, "true": 4.93, "error": 1.0},
}
"""Table 6."""


def distance_rows(measured: ByForm, turns: Turns) -> Iterator[Comparison]:
    """Table 5, beside baselines without activations and controls."""
    table = f"Distance to the goal in {turns} turns (appendix F.3)"
    first = next(iter(measured.values()))
    for (variant, position), (mae, r2) in TABLE_5.items():
        # The linear variant, ridge regression, z-scores its inputs always.
        forms: ByForm = {"z-scored": first} if variant == "linear" else measured
        printed = (("mae", "mean absolute error", mae), ("r2", "R2", r2))
        for score, title, paper in printed:
            for form, numbers in forms.items():
                row = _distance_row(numbers, score, variant, position, turns)
                quantity = f"{title}, {variant}, {POSITIONS[position]}"
                yield replace(
                    row,
                    quantity=of_form(quantity, form),
                    paper=as_published(paper, form),
                    table=table,
                )


def _distance_row(
    numbers: Sequence[Measurement],
    score: str,
    variant: str,
    position: str,
    turns: Turns,
) -> Comparison:
    """A score of the probe beside its baselines and controls, without a title."""
    name = f"distance.{score}"
    where: Labels = {"variant": variant, "position": position}
    others = {}
    for reader in READERS:
        others[reader] = find(numbers, f"{name}.{reader}", **where, control="none")
    # The metric `steps` reads the maps of the MLP, whatever the variant of the row, and
    # those of all turns.
    if turns == "all":
        others["decoded positions"] = find(
            numbers, f"steps.{score}", variant="mlp", position=position, fit="none"
        )
    for control in CONTROLS:
        others[control] = find(numbers, name, **where, control=control)

    return Comparison(
        quantity="",
        paper=None,
        ours=find(numbers, name, **where, control="none"),
        source="Arghal et al. (2026), table 5",
        others=others,
    )


def plan_rows(numbers: Sequence[Measurement], turns: Turns) -> Iterator[Comparison]:
    """Figure 9 and table 6, beside guesses and controls."""
    for row in _plan_rows(numbers):
        table = f"Plans in {turns} turns (section 5.3 and appendix F.4)"
        yield replace(row, table=table)


def _plan_rows(numbers: Sequence[Measurement]) -> Iterator[Comparison]:
    for position, printed in PREFIXES.items():
        for n in range(1, HORIZON + 1):
            title = f"next {n} actions, {POSITIONS[position]}"
            yield _plan_row(
                numbers, f"prefix.{n}", title, position, printed.get(n), "fig. 9"
            )

    for position, lengths in LENGTHS.items():
        for name, paper in lengths.items():
            title = f"length: {name}, {POSITIONS[position]}"
            yield _plan_row(
                numbers, f"length.{name}", title, position, paper, "table 6"
            )


def _plan_row(
    numbers: Sequence[Measurement],
    name: str,
    title: str,
    position: str,
    paper: float | None,
    source: str,
) -> Comparison:
    where: Labels = {"variant": "oneshot", "position": position}
    others = {}
    # Guesses of a length are not measured.
    if name.startswith("prefix"):
        for guess in GUESSES:
            guessed = name.replace("prefix", guess)
            others[guess] = find(numbers, f"plan.{guessed}", **where, control="none")
    for control in CONTROLS:
        others[control] = find(numbers, f"plan.{name}", **where, control=control)

    return Comparison(
        quantity=title,
        paper=paper,
        ours=find(numbers, f"plan.{name}", **where, control="none"),
        source=f"Arghal et al. (2026), {source}",
        others=others,
    )
