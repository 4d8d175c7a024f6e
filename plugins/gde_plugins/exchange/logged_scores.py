"""The scores of another program, in runs that were imported from its logs."""

from collections import defaultdict
from collections.abc import Sequence

from gde.data.evidence import Evidence
from gde.data.grouping import collected
from gde.data.result import Measurement
from gde.numerics.episodes import Place, finished, over_worlds, unmeasured
from gde.numerics.stats import cluster_mean

FACT = "scores"
NOTHING = "no episode was imported with scores"


def logged_scores(evidence: Evidence) -> Sequence[Measurement]:
    """ "scores.NAME": the mean over samples of a score, repeats averaged first."""
    found: dict[str, list[tuple[Place, float]]] = defaultdict(list)
    for trajectory in finished(evidence):
        final = trajectory.final_state
        scores = final.facts.get(FACT) if final else None
        if not isinstance(scores, dict):
            continue
        for name, value in scores.items():
            found[name].append((Place.of(trajectory), float(value)))
    if not found:
        return [unmeasured(FACT, NOTHING)]
    return [
        _mean(evidence, f"{FACT}.{name}", values)
        for name, values in sorted(found.items())
    ]


def _mean(
    evidence: Evidence, name: str, values: Sequence[tuple[Place, float]]
) -> Measurement:
    means = {place: sum(each) / len(each) for place, each in collected(values).items()}
    return over_worlds(evidence, name, means, cluster_mean)
