"""The places that a model's reasoning writes."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from gde.data.cell_map import Position
from gde.data.result import Measurement
from gde.numerics.episodes import unmeasured
from gde.numerics.stats import cluster_share
from gde_plugins.probes.causes.cases import Answers, Case
from gde_plugins.probes.written import written_cells

UNMATCHED = (
    "the pattern {!r} finds no {} in any reasoning;"
    " set causes.reasoning to the form that the model writes"
)
NO_REASONING = "the model wrote no reasoning; choose a higher effort"


def written_shares(
    pattern: str, answers: Answers, cases: Sequence[Case], rng: np.random.Generator
) -> Iterator[Measurement]:
    """Measure "written.*", the share of reasonings that write a place as stated.

    The statements are those of the cases. A reasoning without the thing is left out.

    Args:
        pattern: a regular expression with a group for each thing.
        answers: (cases, samples).
        cases: all with the same statements.
        rng: for resampling.
    """
    reasoned = any(answer.reasoning for of_case in answers for answer in of_case)
    for name, (thing, _) in cases[0].statements.items():
        true = []
        found = []
        worlds = []
        for case, of_case in zip(cases, answers, strict=True):
            _, place = case.statements[name]
            counts: Counter[bool] = Counter()
            for answer in of_case:
                written = written_places(pattern, answer.reasoning or "")
                if thing in written:
                    counts[written[thing] == place] += 1
            if counts:
                true.append(counts[True])
                found.append(counts.total())
                worlds.append(case.world)

        measured = f"written.{name}"
        if not found:
            reason = UNMATCHED.format(pattern, thing) if reasoned else NO_REASONING
            yield unmeasured(measured, reason)
        else:
            estimate = cluster_share(true, worlds, rng, trials=found)
            yield estimate.measurement(measured)


def written_places(pattern: str, reasoning: str) -> Mapping[str, Position]:
    """Return the places that a reasoning first writes, by the names of the groups."""
    places = {}
    for thing, cells in written_cells(pattern, reasoning).items():
        if len(cells) == 1:
            (places[thing],) = cells
    return places
